import type { Assurance } from '../access/assurance.js';
import type { Role } from '../access/role.js';
import { FORM_NEEDED } from '../problems/media-types.js';
import { BOUND_TOKEN } from '../access/access.errors.js';
import { type Access, needsUser, takesBoundTokens } from '../access/route-access.js';
import { invalidFields } from './api-problems.decorator.js';
import type { ProblemExample } from './problem-schemas.js';

/** All requests but GET may have one, which is JSON unless the route takes a form. */
export type BodyKind = 'none' | 'json' | 'form';

// WriteControlsGuard refuses it wherever it means nothing.
const DRY_RUN_PROBLEM = invalidFields({ dryRun: 'is not supported by this request' });

const UNREAD_PROBLEMS: ProblemExample[] = [{ code: 'body_too_large' }, { code: 'unsupported_media_type' }];
const UNREAD_FORM_PROBLEMS: ProblemExample[] = [
  { code: 'body_too_large' },
  { code: 'unsupported_media_type', detail: FORM_NEEDED },
];

const BODY_PROBLEMS: Record<BodyKind, ProblemExample[]> = {
  none: [],
  json: [DRY_RUN_PROBLEM, { code: 'malformed_json' }, ...UNREAD_PROBLEMS],
  form: [DRY_RUN_PROBLEM, ...UNREAD_FORM_PROBLEMS],
};

/** refused by WriteLimitGuard */
const CHANGE_PROBLEMS: ProblemExample[] = [{ code: 'rate_limited' }];

const TOKEN_PROBLEMS: ProblemExample[] = [{ code: 'unauthorized' }, { code: 'invalid_token' }];

const ORG_PROBLEMS: ProblemExample[] = [{ code: 'org_not_found' }, { code: 'not_a_member' }];

const OPERATOR_PROBLEMS: ProblemExample[] = [
  { code: 'operator_required' },
  { code: 'insufficient_user_authentication' },
];

const MIN_ROLE_PROBLEMS: Record<Role, ProblemExample[]> = {
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
export function impliedProblems(access: Access, body: BodyKind): ProblemExample[] {
  return [
    ...BODY_PROBLEMS[body],
    ...refusedTo(access),
    ...(body !== 'none' && needsUser(access) ? CHANGE_PROBLEMS : []),
  ];
}

function assuranceProblems({ assurance }: { assurance?: Assurance }): ProblemExample[] {
  return assurance ? [{ code: 'password_session_required' }] : [];
}

function refusedTo(access: Access): ProblemExample[] {
  if (access.to === 'everyone') return [];
  if (access.to === 'services') {
    const extensions = { requiredScope: access.scope };
    return [{ code: 'invalid_client' }, { code: 'insufficient_scope', extensions }];
  }
  return [
    ...TOKEN_PROBLEMS,
    ...(takesBoundTokens(access) ? [] : [{ code: 'insufficient_scope', detail: BOUND_TOKEN } as const]),
    ...(access.to === 'members' ? [...ORG_PROBLEMS, ...MIN_ROLE_PROBLEMS[access.minRole]] : []),
    ...(access.to === 'operators' ? OPERATOR_PROBLEMS : assuranceProblems(access)),
  ];
}
