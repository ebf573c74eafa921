import type { Role } from '../access/role.js';
import { type Access, needsUser } from '../access/route-access.js';
import { invalidFields } from './api-problems.decorator.js';
import type { ProblemExample } from './problem-schemas.js';

/** problems of every request that may have a body: all but GET */
const OF_BODIES: ProblemExample[] = [
  // CareGuard refuses it wherever it means nothing.
  invalidFields({ dryRun: 'is not supported by this request' }),
  { code: 'malformed_json' },
  { code: 'body_too_large' },
  { code: 'unsupported_media_type' },
];

/** refused by WriteLimitGuard */
const OF_CHANGES: ProblemExample[] = [{ code: 'rate_limited' }];

const OF_TOKENS: ProblemExample[] = [{ code: 'unauthorized' }, { code: 'invalid_token' }];

const OF_ORGS: ProblemExample[] = [{ code: 'org_not_found' }, { code: 'not_a_member' }];

const OF_MIN_ROLE: Record<Role, ProblemExample[]> = {
  member: [],
  admin: [{ code: 'insufficient_role' }],
  owner: [
    {
      code: 'insufficient_role',
      detail: 'This needs the role owner; yours is member.',
      extensions: { requiredRole: 'owner', yourRole: 'member' },
    },
  ],
};

/** Returns the problems that a request can meet before the handler of its route runs. */
export function impliedProblems(access: Access, readsBody: boolean): ProblemExample[] {
  return [
    ...(readsBody ? OF_BODIES : []),
    ...refusedTo(access),
    ...(readsBody && needsUser(access) ? OF_CHANGES : []),
  ];
}

function refusedTo(access: Access): ProblemExample[] {
  if (access.to === 'everyone') return [];
  if (access.to === 'services') {
    const extensions = { requiredScope: access.scope };
    return [{ code: 'invalid_client' }, { code: 'insufficient_scope', extensions }];
  }
  return [
    ...OF_TOKENS,
    ...(access.to === 'members' ? [...OF_ORGS, ...OF_MIN_ROLE[access.minRole]] : []),
    ...(access.to === 'operators' ? [{ code: 'operator_required' } as const] : []),
    ...(access.assurance?.by === 'password' ? [{ code: 'password_session_required' } as const] : []),
  ];
}
