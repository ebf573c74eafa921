/** Every code of `addMember` and no other; one without the schema of its own has no `errors` and no `requiredRole`. */
const EXPLAIN = `
export function explain(problem: Problem): string {
  switch (problem.code) {
    case 'validation_failed':
      return problem.errors.map(({ field, message }) => field + ' ' + message).join();
    case 'insufficient_role':
      return problem.requiredRole satisfies 'member' | 'admin' | 'owner';
    case 'malformed_json':
    case 'unauthorized':
    case 'invalid_token':
    case 'not_a_member':
    case 'org_not_found':
    case 'user_not_found':
    case 'already_member':
    case 'user_has_too_many_orgs':
    case 'precondition_failed':
    case 'idempotency_key_reused':
    case 'body_too_large':
    case 'unsupported_media_type':
    case 'rate_limited':
    case 'internal_error':
    case 'unavailable':
    case 'storage_full':
      return problem.detail;
    default:
      return problem satisfies never;
  }
}
`;

/** What somebody writes who uses the generated code, by the folder that it is in. */
export const CONSUMERS = {
  'openapi-typescript': `
import type { operations } from './schema';

type Responses = operations['addMember']['responses'];
type Problem = Responses[Exclude<keyof Responses, 201>]['content']['application/problem+json'];
${EXPLAIN}
type Listed = operations['listMembers']['responses'][200];
export const next = ({ nextCursor }: Listed['content']['application/json']): string | undefined => nextCursor;
export const link = ({ Link }: Listed['headers']): string | undefined => Link;
export const path: operations['removeMember']['parameters']['path'] = { orgId: 'o', userId: 'u' };
`,
  orval: `
import { addMember, type addMemberResponseError, listMembers } from './client';

type Problem = addMemberResponseError['data'];
${EXPLAIN}
export async function add(orgId: string): Promise<string> {
  const answer = await addMember(orgId, { email: 'grace@example.com', role: 'member' });
  return answer.status === 201 ? answer.data.member.role : explain(answer.data);
}

export async function next(orgId: string): Promise<string | undefined> {
  const page = await listMembers(orgId, { limit: 100 });
  return page.status === 200 ? page.data.nextCursor : undefined;
}
`,
  'hey-api': `
import { addMember, type AddMemberError as Problem, listMembers } from './client';
${EXPLAIN}
export async function add(orgId: string): Promise<string> {
  const { data, error } = await addMember({ path: { orgId }, body: { email: 'grace@example.com', role: 'member' } });
  return error === undefined ? data.member.role : explain(error);
}

export async function next(orgId: string): Promise<string | undefined> {
  const { data } = await listMembers({ path: { orgId }, query: { limit: 100 } });
  return data?.nextCursor;
}
`,
};
