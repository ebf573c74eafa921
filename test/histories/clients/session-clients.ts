import type { Random } from '../../faults/support/random.js';
import { atOnce, times } from '../../support/at-once.js';
import { asString, type Reply } from '../../support/service-client.js';
import type { Step } from './org-clients.js';
import type { Recorder } from './recorder.js';
import { register } from './team.js';

const AT_ONCE = 3;

/** Logins are opened and ended in rounds; a round without an answer that it needs ends there. */
abstract class SessionClient {
  private count = 0;

  constructor(
    protected readonly recorder: Recorder,
    protected readonly random: Random,
    private readonly name: string,
  ) {}

  get step(): Step {
    return () => this.round(`${this.name}-${(this.count += 1)}`);
  }

  protected abstract round(session: string): Promise<void>;

  protected register(session: string): ReturnType<typeof register> {
    return register(this.recorder, this.random, session);
  }

  protected async use(session: string, token: string): Promise<void> {
    const request = { method: 'GET', path: '/api/me', token };
    await this.recorder.record(this.random, { kind: 'use', session }, request);
  }

  protected refresh(session: string, generation: number, refreshToken: string): Promise<Reply | undefined> {
    const request = { method: 'POST', path: '/api/auth/refresh', body: { refreshToken } };
    return this.recorder.record(this.random, { kind: 'refresh', session, generation }, request);
  }

  protected async issueCode(token: string): Promise<string | undefined> {
    const reply = await this.recorder.ask(this.random, { method: 'POST', path: '/api/auth/code', token });
    return reply && asString(reply.body['code']);
  }

  protected exchange(session: string, code: string): Promise<Reply | undefined> {
    const request = { method: 'POST', path: '/api/auth/code/exchange', body: { code } };
    return this.recorder.record(this.random, { kind: 'exchange', session }, request);
  }
}

/** Uses one refresh token at once on several instances, now and then after it has been used once. */
export class RefreshClient extends SessionClient {
  protected async round(session: string): Promise<void> {
    const login = await this.register(session);
    if (!login) return;
    const isUsed = this.random.between(0, 3) === 0;
    if (isUsed) await this.refresh(session, 0, login.refreshToken);
    await atOnce(times(AT_ONCE, () => () => this.refresh(session, 0, login.refreshToken)));
  }
}

/** Exchanges one code at once on several instances. */
export class CodeClient extends SessionClient {
  protected async round(session: string): Promise<void> {
    const login = await this.register(session);
    if (!login) return;
    for (let turn = 0; turn < 4; turn += 1) {
      const code = await this.issueCode(login.token);
      if (code === undefined) return;
      const opened = `${session}/${turn}`;
      await atOnce(times(AT_ONCE, () => () => this.exchange(opened, code)));
    }
    await this.use(session, login.token);
  }
}

/** Ends a login while it is used, and uses it afterwards; so with a session that its code has opened. */
export class EndingClient extends SessionClient {
  protected async round(session: string): Promise<void> {
    const first = await this.register(session);
    if (!first) return;
    const { email, password } = first;
    const other = `${session}-other`;
    const body = { email, password };
    const second = await this.recorder.ask(this.random, { method: 'POST', path: '/api/auth/login', body });
    const [code, unused] = [await this.issueCode(first.token), await this.issueCode(first.token)];
    if (!second || code === undefined || unused === undefined) return;
    const opened = await this.exchange(`${session}/opened`, code);
    const derived = opened && asString(opened.body['token']);
    const otherToken = asString(second.body['token']);

    const useAll = async (): Promise<void> => {
      await this.use(session, first.token);
      if (derived !== undefined) await this.use(`${session}/opened`, derived);
      await this.use(other, otherToken);
    };
    const end = (): Promise<unknown> => this.end(session, first.token, other, otherToken);
    await atOnce([useAll, end, useAll]);
    await useAll();
    await useAll();
    await this.refresh(session, 0, first.refreshToken);
    await this.exchange(`${session}/unused`, unused);
  }

  /** In one of the ways that there are: the login itself, or the other session of its user, asks for it. */
  private end(session: string, token: string, other: string, otherToken: string): Promise<unknown> {
    const requests = [
      { sessions: [session], request: { method: 'POST', path: '/api/auth/logout', token } },
      {
        sessions: [session],
        request: { method: 'DELETE', path: `/api/me/sessions/${sessionIdIn(token)}`, token: otherToken },
      },
      { sessions: [session], request: { method: 'DELETE', path: '/api/me/sessions', token: otherToken } },
      {
        sessions: [session, other],
        request: { method: 'DELETE', path: '/api/me/sessions?all=true', token: otherToken },
      },
    ];
    const { sessions, request } = this.random.pick(requests);
    return this.recorder.record(this.random, { kind: 'end', sessions }, request);
  }
}

function sessionIdIn(token: string): string {
  const [, payload = ''] = token.split('.');
  return asString((JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sid: unknown }).sid);
}
