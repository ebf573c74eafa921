// What a program says with the types; the lint compiles it, and it is never run.
import { type Client, memoryStore, createClient, pages, type ProblemOf } from '../src/index.ts';

const client: Client = createClient({ baseUrl: 'https://accounts.example.com', store: memoryStore() });

export function explain(problem: ProblemOf<'changeMemberRole'>): string {
  if (problem.code === 'last_owner') {
    problem.status satisfies 409;
    return problem.remedy?.candidates.map(({ email }) => email).join() ?? '';
  }
  if (problem.code === 'validation_failed') {
    return problem.errors.map(({ field, message }) => field + message).join();
  }
  if (problem.code === 'insufficient_role')
    return problem.requiredRole satisfies 'member' | 'admin' | 'owner';
  if (problem.code === 'not_json') return problem.text;
  if (problem.code === 'unknown_code') return problem.receivedCode + String(problem.status satisfies number);
  // @ts-expect-error no code of this operation
  if (problem.code === 'email_taken') return '';
  return `${problem.detail} ${(problem.retryAfter satisfies number | undefined) ?? 0}`;
}

/** Any operation that needs a login can answer these. */
export async function showLogin(): Promise<boolean> {
  const [me, account] = await Promise.all([client.getMe(), client.getAccount()]);
  const login = await client.login({ email: 'ada@example.com', password: 'p' });
  // @ts-expect-error it needs no login
  if (!login.ok && login.problem.code === 'invalid_refresh_token') return false;
  return [me, account].some((one) => !one.ok && hasEnded(one.problem));
}

/** One function for the problems of all operations. */
export function hasEnded(problem: ProblemOf): boolean {
  if (problem.code === 'rate_limited') problem.retryAfter satisfies number | undefined;
  return problem.code === 'invalid_refresh_token' || problem.code === 'not_logged_in';
}

export async function isBusy(): Promise<boolean> {
  const [config, ended] = await Promise.all([client.getAuthConfig(), client.getMe()]);
  if (!ended.ok && ended.problem.code === 'invalid_refresh_token') ended.problem.status satisfies 401;
  return !config.ok && config.problem.code === 'unavailable' && config.problem.status === 503;
}

export function isPassing({ code }: ProblemOf<'getLiveness'>): boolean {
  switch (code) {
    case 'unreachable':
    case 'timed_out':
    case 'not_json':
    case 'unavailable':
      return true;
    case 'aborted':
    case 'audience_ignored':
    case 'internal_error':
    case 'invalid_answer':
    case 'invalid_parameter':
    case 'no_credentials':
    case 'not_logged_in':
    case 'storage_full':
    case 'store_failed':
    case 'unknown_code':
      return false;
    default:
      return code satisfies never;
  }
}

export async function use(deviceName: string | undefined): Promise<string> {
  // @ts-expect-error no password
  void client.login({ email: 'ada@example.com' });
  // @ts-expect-error no change of an organization
  void client.login({ email: 'ada@example.com', password: 'p' }, { idempotencyKey: 'k' });
  // @ts-expect-error no dry run of this operation
  void client.createOrg({ name: 'Engines', dryRun: true });
  // @ts-expect-error no option
  void client.getMe({}, { timeout: 1 });
  // @ts-expect-error no option
  createClient({ baseUrl: 'https://accounts.example.com', store: memoryStore(), timeout: 1 });
  (await client.logOut()).sessionRevoked satisfies boolean;
  // @ts-expect-error no role
  void client.changeMemberRole({ orgId: 'o', userId: 'u', role: 'king' });
  void client.changeMemberRole(
    { orgId: 'o', userId: 'u', role: 'admin' },
    { ifMatch: '"7"', idempotencyKey: 'k' },
  );
  void client.getMe();
  void client.getMe({ include: ['roles', 'profile'] });
  // @ts-expect-error no part of these answers
  void client.getMe({ include: ['names'] });
  // @ts-expect-error no part of a member
  void client.listMembers({ orgId: 'o', include: ['roles'] });
  void client.updateProfile({ name: null, locale: undefined }, { ifMatch: '"tag"' });
  // @ts-expect-error no name
  void client.updateProfile({ name: 7 });
  const config = await client.getAuthConfig();
  if (config.ok) config.data.registration satisfies 'open' | 'invited' | 'closed';
  const profile = await client.getProfile();
  if (profile.ok) profile.data.profile.avatarUrl satisfies string | null;
  const login = await client.login({ email: 'ada@example.com', password: 'p', deviceName });
  if (!login.ok) return login.problem.code;
  login.data.refreshToken satisfies string | undefined;
  for await (const page of pages(client.listMembers, { orgId: 'o', limit: 1000 })) {
    if (!page.ok) return page.problem.code;
    page.data.members[0]?.role satisfies 'member' | 'admin' | 'owner' | undefined;
    page.data.members[0]?.profile?.name satisfies string | null | undefined;
  }
  return login.data.user.email satisfies string;
}
