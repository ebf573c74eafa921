/**
 * A member with an unknown name is a mistake: a `dryRun` that an operation does not have would be ignored, and the change
 * made.
 *
 * @param takes the beginning of the message, such as `createOrg does`
 * @throws TypeError for a name that is not one of those known
 */
export function requireKnown(takes: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`${takes} not take ${JSON.stringify(unknown)}`);
}
