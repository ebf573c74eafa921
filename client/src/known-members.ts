/**
 * Rejects a member with an unknown name. An operation without a dry run would ignore `dryRun` and make the change.
 *
 * @param takes the beginning of the message, such as `createOrg does`
 * @throws TypeError for an unknown name
 */
export function requireKnown(takes: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`${takes} not take ${JSON.stringify(unknown)}`);
}
