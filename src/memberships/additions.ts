/**
 * The number of organizations from which on others can no longer add the user. The rest is left for the user to create
 * and to accept, or strangers could use up the limit of anybody whose e-mail they know.
 */
export function additionsUpTo(maxOrgsPerUser: number): number {
  return Math.max(1, Math.floor((maxOrgsPerUser * 4) / 5));
}
