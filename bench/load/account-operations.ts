import { randomUUID } from 'node:crypto';
import { type BenchUser, PASSWORD } from '../fixture/fixture.ts';
import { expectAnswer, is, isText, isToken } from './answer.ts';
import { cycle } from './cycle.ts';
import type { Call, Operation } from './call.ts';
import { me } from './read-operations.ts';
import { requestText } from './request.ts';
import { secondSteps } from './second-steps.ts';
import type { Side } from './side.ts';

type AccountOperation =
  | 'register'
  | 'login'
  | 'second step'
  | 'refresh'
  | 'refresh and use'
  | 'issue code'
  | 'exchange code'
  | 'create organization';

/** Fewer than are valid, for those that are being issued. */
const CODES_FOR_EACH = 5;

const REFRESHED = { expiresAt: isText, refreshToken: isToken };

export function accountOperations(side: Side): Record<AccountOperation, Operation> {
  const nextFiller = cycle(side.fixture.fillers);
  const nextReader = cycle(side.fixture.readers);
  const nextCreator = cycle(side.fixture.creators);
  return {
    register,
    login: () => login(nextFiller(), () => undefined),
    'second step': secondSteps(side.fixture),
    refresh: () => refresh(side),
    'refresh and use': () =>
      useRefreshed(side) ?? refresh(side, (token, user) => side.unusedTokens.add({ token, user })),
    'issue code': () => issueCode(side, nextReader()),
    'exchange code': () => exchangeCode(side, () => undefined) ?? issueCode(side, nextReader()),
    'create organization': () => createOrg(side.tokenOf(nextCreator()), () => undefined),
  };
}

export function login(user: BenchUser, keep: (token: string) => void): Call {
  return {
    request: requestText({
      method: 'POST',
      path: '/api/auth/login',
      body: { email: user.email, password: PASSWORD },
    }),
    accept(response) {
      const body = expectAnswer(response, 200, {
        token: isToken,
        user: { id: is(user.id), email: is(user.email) },
      });
      keep(String(body['token']));
    },
  };
}

/** A login with a refresh token. */
export function refreshableLogin(user: BenchUser, side: Side): Call {
  return {
    request: requestText({
      method: 'POST',
      path: '/api/auth/login',
      body: { email: user.email, password: PASSWORD, refresh: true },
    }),
    accept(response) {
      const body = expectAnswer(response, 200, {
        token: isToken,
        user: { id: is(user.id), email: is(user.email) },
        ...REFRESHED,
      });
      side.refreshTokens.add({ refreshToken: String(body['refreshToken']), user });
    },
  };
}

function refresh(
  side: Side,
  keep: (token: string, user: BenchUser) => void = () => undefined,
): Call | undefined {
  const held = side.refreshTokens.take();
  if (held === undefined) return undefined;
  const { refreshToken, user } = held;
  return {
    request: requestText({ method: 'POST', path: '/api/auth/refresh', body: { refreshToken } }),
    accept(response) {
      const body = expectAnswer(response, 200, { token: isToken, ...REFRESHED });
      side.refreshTokens.add({ refreshToken: String(body['refreshToken']), user });
      keep(String(body['token']), user);
    },
  };
}

/** The first request with an access token tells the service that the answer of the refresh arrived. */
function useRefreshed(side: Side): Call | undefined {
  const unused = side.unusedTokens.take();
  return unused && me(unused.user, side.fixture.readerOrgs, unused.token);
}

function register(): Call {
  const email = `${randomUUID()}@new.example`;
  return {
    request: requestText({ method: 'POST', path: '/api/auth/register', body: { email, password: PASSWORD } }),
    accept: (response) =>
      void expectAnswer(response, 201, { token: isToken, user: { id: isText, email: is(email) } }),
  };
}

function issueCode(side: Side, user: BenchUser): Call {
  return {
    request: requestText({ method: 'POST', path: '/api/auth/code', token: side.tokenOf(user), body: {} }),
    accept(response) {
      side.codes.add({ code: String(expectAnswer(response, 201, { code: isText })['code']), user });
      // Only the last ten codes of a session are valid, and each reader has one session.
      side.codes.keepLast(side.fixture.readers.length * CODES_FOR_EACH);
    },
  };
}

export function exchangeCode(side: Side, keep: (user: BenchUser, token: string) => void): Call | undefined {
  const issued = side.codes.take();
  if (issued === undefined) return undefined;
  const { code, user } = issued;
  return {
    request: requestText({
      method: 'POST',
      path: '/api/auth/code/exchange',
      idempotencyKey: randomUUID(),
      body: { code },
    }),
    accept(response) {
      keep(user, String(expectAnswer(response, 200, { token: isToken })['token']));
    },
  };
}

export function createOrg(token: string, keep: (id: string) => void): Call {
  const name = 'An organization of the benchmark';
  return {
    request: requestText({ method: 'POST', path: '/api/orgs', token, body: { name } }),
    accept(response) {
      const { org } = expectAnswer(response, 201, { org: { id: isText, name: is(name) } });
      keep((org as { id: string }).id);
    },
  };
}
