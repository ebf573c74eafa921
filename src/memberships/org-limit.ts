/**
 * SQL that is NULL while the user `u` may join one more organization; it reads no further than to the limit. It
 * holds until COMMIT where the same statement locks the row of `u`, for whoever joins takes that lock first.
 */
export function orgAtLimit(maxOrgs: number): string {
  return `(SELECT x.org_id FROM members x WHERE x.user_id = u.id LIMIT 1 OFFSET ${maxOrgs - 1})`;
}
