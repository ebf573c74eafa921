/** Others can add a user up to this number of organizations, so that strangers cannot use up anybody's limit. */
export function additionsUpTo(maxOrgsPerUser: number): number {
  return Math.max(1, Math.floor((maxOrgsPerUser * 4) / 5));
}
