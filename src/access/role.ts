/** Ordered from the lowest to the highest permission. */
export const ROLES = ['member', 'admin', 'owner'] as const;

export type Role = (typeof ROLES)[number];

export function roleAtLeast(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}
