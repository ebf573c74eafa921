import type { Role } from '../api.gen.ts';

export interface Wait {
  /** gives this wait up */
  signal?: AbortSignal | undefined;
}
export interface InOrg extends Wait {
  /** The user has to be a member there. */
  orgId: string;
  /** the least role */
  role?: Role | undefined;
}

const BY_RANK: readonly Role[] = ['member', 'admin', 'owner'];
const OPTIONS = new Set(['orgId', 'role', 'signal']);

/**
 * Returns what the caller has to be, or undefined where any user will do. A misspelled option would admit every user.
 *
 * @throws TypeError for options that mean nothing
 */
export function requirementOf(options: Wait | InOrg): InOrg | undefined {
  const unknown = Object.keys(options).find((name) => !OPTIONS.has(name));
  if (unknown !== undefined) throw new TypeError(`unknown option: ${unknown}`);
  if (!('orgId' in options)) {
    if ('role' in options) throw new TypeError('role needs orgId');
    return undefined;
  }
  if (typeof options.orgId !== 'string') throw new TypeError('orgId must be a string');
  if (options.role !== undefined && !BY_RANK.includes(options.role)) {
    throw new TypeError(`role must be one of ${BY_RANK.join(', ')}`);
  }
  return options;
}

export function isAtLeast(role: Role, least: Role): boolean {
  return BY_RANK.indexOf(role) >= BY_RANK.indexOf(least);
}
