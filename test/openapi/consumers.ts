/** Every code of `addMember` and no other; one without the schema of its own has no `errors` and no `requiredRole`. */
const EXPLAIN = `
export function explain(problem: Problem): string {
  switch (problem.code) {
    case 'validation_failed':
      return problem.errors.map(({ field, message }) => field + ' ' + message).join();
    case 'insufficient_role':
      return problem.requiredRole satisfies 'member' | 'admin' | 'owner';
    case 'malformed_json':
    case 'insufficient_scope':
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

/** A refresh token is there with its time of expiry, and only where it was asked for. */
const KEEP = `
export function keep(result: SignInResult): string {
  // @ts-expect-error not of every answer
  const unchecked: unknown = result.refreshToken;
  if (!('refreshToken' in result)) return result.token satisfies string;
  return (result.refreshToken satisfies string) + (result.expiresAt satisfies string) + String(unchecked);
}
`;

/** An event is one of its type, and has what that type has. */
const FOLLOW = `
export function follow(event: FeedEvent): string | null {
  switch (event.type) {
    case 'session.ended':
      return 'all' in event.data ? (event.userId satisfies string) : event.sessionId;
    case 'member.role_changed':
      return (event.orgId satisfies string) + (event.data.to satisfies 'member' | 'admin' | 'owner');
    default:
      // @ts-expect-error not of every event
      return event.data.to;
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

type SignInResult = operations['login']['responses'][200]['content']['application/json'];
${KEEP}
type Feed = operations['followEvents']['responses'][200]['content']['application/json'];
type FeedEvent = Feed['events'][number];
${FOLLOW}
type Query<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;
export const removals: Query<'removeMember'>[] = [{}, { dryRun: false }, { dryRun: true, remedy: false }];
export const endings: Query<'endOwnSessions'>[] = [{}, { all: false }];
// @ts-expect-error no text
export const text: Query<'removeMember'> = { dryRun: 'false' };
type Transfer = operations['transferOrg']['requestBody']['content']['application/json'];
export const transfers: Transfer[] = [{ userId: 'u' }, { userId: 'u', leave: false }];
`,
  orval: `
import {
  addMember,
  type addMemberResponseError,
  endOwnSessions,
  type FeedResult,
  listMembers,
  removeMember,
  type SignInResult,
  transferOrg,
} from './client';

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
${KEEP}
type FeedEvent = FeedResult['events'][number];
${FOLLOW}
export async function change(orgId: string, userId: string): Promise<void> {
  await removeMember(orgId, userId);
  await removeMember(orgId, userId, { dryRun: false, remedy: false });
  // @ts-expect-error no text
  await removeMember(orgId, userId, { dryRun: 'false' });
  await endOwnSessions({ all: false });
  await transferOrg(orgId, { userId });
  await transferOrg(orgId, { userId, leave: false });
}
`,
  'hey-api': `
import {
  addMember,
  type AddMemberError as Problem,
  endOwnSessions,
  type FeedResult,
  listMembers,
  removeMember,
  type SignInResult,
  transferOrg,
} from './client';
${EXPLAIN}
export async function add(orgId: string): Promise<string> {
  const { data, error } = await addMember({ path: { orgId }, body: { email: 'grace@example.com', role: 'member' } });
  return error === undefined ? data.member.role : explain(error);
}

export async function next(orgId: string): Promise<string | undefined> {
  const { data } = await listMembers({ path: { orgId }, query: { limit: 100 } });
  return data?.nextCursor;
}
${KEEP}
type FeedEvent = FeedResult['events'][number];
${FOLLOW}
export async function change(orgId: string, userId: string): Promise<void> {
  const path = { orgId, userId };
  await removeMember({ path });
  await removeMember({ path, query: { dryRun: false, remedy: false } });
  // @ts-expect-error no text
  await removeMember({ path, query: { dryRun: 'false' } });
  await endOwnSessions({ query: { all: false } });
  await transferOrg({ path: { orgId }, body: { userId } });
  await transferOrg({ path: { orgId }, body: { userId, leave: false } });
}
`,
};
