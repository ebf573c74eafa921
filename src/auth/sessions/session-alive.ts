/**
 * SQL that is true of a session whose tokens are good.
 *
 * @param alias of the session's row
 */
export function isAlive(alias: string): string {
  return `${alias}.revoked_at IS NULL`;
}
