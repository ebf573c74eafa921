import { atOnce, times } from '../../support/at-once.js';
import { asString, type Reply } from '../../support/service-client.js';
import { sessionIdOf } from '../../support/signing-keys.js';
import type { Client } from './client.js';
import type { Step } from './org-clients.js';

const AT_ONCE = 3;

/** Logins are opened and ended in rounds; a round without an answer that it needs ends there. */
export function inRounds(
  client: Client,
  name: string,
  round: (client: Client, session: string) => Promise<void>,
): Step {
  let count = 0;
  return () => round(client, `${name}-${(count += 1)}`);
}

const use = (client: Client, session: string, token: string) =>
  client.record({ kind: 'use', session }, ['GET', '/api/me', { token }]);

const refresh = (client: Client, session: string, refreshToken: string) =>
  client.record({ kind: 'refresh', session, generation: 0 }, [
    'POST',
    '/api/auth/refresh',
    { body: { refreshToken } },
  ]);

const exchange = (client: Client, session: string, code: string): Promise<Reply | undefined> =>
  client.record({ kind: 'exchange', session }, ['POST', '/api/auth/code/exchange', { body: { code } }]);

async function issueCode(client: Client, token: string): Promise<string | undefined> {
  const reply = await client.ask('POST', '/api/auth/code', { token });
  return reply && asString(reply.body['code']);
}

/** Uses one refresh token at once on several instances, now and then after it has been used once. */
export async function refreshAtOnce(client: Client, session: string): Promise<void> {
  const login = await client.register(session);
  if (!login) return;
  if (client.random.between(0, 3) === 0) await refresh(client, session, login.refreshToken);
  await atOnce(times(AT_ONCE, () => () => refresh(client, session, login.refreshToken)));
}

/** Exchanges one code at once on several instances. */
export async function exchangeAtOnce(client: Client, session: string): Promise<void> {
  const login = await client.register(session);
  if (!login) return;
  for (let turn = 0; turn < 4; turn += 1) {
    const code = await issueCode(client, login.token);
    if (code === undefined) return;
    await atOnce(times(AT_ONCE, () => () => exchange(client, `${session}/${turn}`, code)));
  }
  await use(client, session, login.token);
}

/** Ends a login while it is used, and uses it afterwards; so with a session that its code has opened. */
export async function endWhileUsed(client: Client, session: string): Promise<void> {
  const first = await client.register(session);
  if (!first) return;
  const { email, password, token } = first;
  const other = `${session}-other`;
  const second = await client.ask('POST', '/api/auth/login', { body: { email, password } });
  const [code, unused] = [await issueCode(client, token), await issueCode(client, token)];
  if (!second || code === undefined || unused === undefined) return;
  const opened = await exchange(client, `${session}/opened`, code);
  const otherToken = asString(second.body['token']);

  const useAll = async (): Promise<void> => {
    await use(client, session, token);
    if (opened) await use(client, `${session}/opened`, asString(opened.body['token']));
    await use(client, other, otherToken);
  };
  /** In one of the ways that there are: the login itself, or the other session of its user, asks for it. */
  const end = (): Promise<unknown> => {
    const [sessions, ...request] = client.random.pick([
      [[session], 'POST', '/api/auth/logout', { token }],
      [[session], 'DELETE', `/api/me/sessions/${sessionIdOf(first)}`, { token: otherToken }],
      [[session], 'DELETE', '/api/me/sessions', { token: otherToken }],
      [[session, other], 'DELETE', '/api/me/sessions?all=true', { token: otherToken }],
    ] as [string[], string, string, { token: string }][]);
    return client.record({ kind: 'end', sessions }, request);
  };
  await atOnce([useAll, end, useAll]);
  await useAll();
  await useAll();
  await refresh(client, session, first.refreshToken);
  await exchange(client, `${session}/unused`, unused);
}
