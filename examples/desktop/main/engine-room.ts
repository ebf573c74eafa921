import type { Client } from 'accounts-client';
import type { Answer, ShownProblem } from '../bridge.ts';

const UNREACHABLE = { code: 'engine_room_unreachable', detail: 'The engine room cannot be reached.' };
const TIMEOUT_MS = 10_000;

/** The service of examples/handoff. Its token, which is for this service alone, stays in the main process. */
export class EngineRoom {
  private readonly client: Client;
  private readonly url: string;
  /** of the current login */
  private visit: { token?: string } = {};

  constructor(client: Client, url: string) {
    this.client = client;
    this.url = url;
    client.onSessionChange(() => (this.visit = {}));
  }

  async enter(orgId: string): Promise<Answer<{ email: string; role: string }>> {
    const { visit } = this;
    const room = `rooms/${encodeURIComponent(orgId)}`;
    try {
      let answer = await this.ask<{ email: string; role: string }>(room, visit.token);
      if (!answer.ok && answer.status === 401) {
        const handedOff = await this.handOff();
        if (!handedOff.ok) return handedOff;
        visit.token = handedOff.token;
        answer = await this.ask(room, visit.token);
      }
      return answer;
    } catch {
      return { ok: false, problem: UNREACHABLE };
    }
  }

  /** The service makes the challenge, Accounts a code for this service and challenge, and the service exchanges it. */
  private async handOff(): Promise<Answer<{ token: string }>> {
    const begun = await this.ask<{ login: string; challenge: { codeChallenge: string } }>('begin');
    if (!begun.ok) return begun;
    const { codeChallenge } = begun.challenge;
    const input = { audience: 'engine-room', codeChallenge, codeChallengeMethod: 'S256' } as const;
    const issued = await this.client.issueCode(input);
    if (!issued.ok)
      return { ok: false, problem: { code: issued.problem.code, detail: issued.problem.detail } };
    return this.ask('finish', undefined, { login: begun.login, code: issued.data.code });
  }

  private async ask<Data>(
    path: string,
    token?: string,
    body?: object,
  ): Promise<({ ok: true } & Data) | { ok: false; status: number; problem: ShownProblem }> {
    const response = await fetch(`${this.url}/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.ok) return { ok: true, ...((await response.json()) as Data) };
    return { ok: false, status: response.status, problem: (await response.json()) as ShownProblem };
  }
}
