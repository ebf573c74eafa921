import { randomUUIDv7 } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { CliModule } from '../../../src/cli/command/cli.module.js';
import { parseEnv } from '../../../src/config/env.js';
import { ServiceChanges } from '../../../src/services/service-changes.js';
import { createGuard, type Guard } from '../../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../../tooling/wait.js';
import { times } from '../../support/at-once.js';
import { aDataSource } from '../../support/data-source.js';
import type { Installation } from '../../support/installation.js';
import { insertRow, insertRows } from '../../support/rows.js';
import {
  aServiceClient,
  type ServiceClient,
  type ServiceToken,
  tokenRequest,
} from '../../support/services.js';
import { signToken } from '../../support/signing-keys.js';
import { closeAfterTest } from './deployment.js';

export const OPERATOR = { kind: 'operator', id: 'test' } as const;
const PAGE = 1000;
const HOUR_S = 3600;
/** The least that a guard accepts. */
const MAX_STALENESS_S = 4;

/** A guard whose answers of the feed the test counts, and can tear. */
export class FollowedGuard {
  /** Cuts each page of the feed in half. */
  isTorn = false;
  readonly guard: Guard;
  private completeSince = -1;
  private appliedSince = -1;

  constructor(
    readonly service: ServiceClient,
    baseUrl: string,
  ) {
    this.guard = createGuard({
      issuer: 'accounts',
      audience: service.name,
      baseUrl,
      credentials: { name: service.name, secret: service.secret },
      maxStaleness: MAX_STALENESS_S,
      fetch: this.fetch,
      log: { warn: () => undefined },
    });
  }

  static async of(service: ServiceClient, baseUrl: string): Promise<FollowedGuard> {
    const followed = await closeAfterTest(new FollowedGuard(service, baseUrl));
    await followed.guard.ready({ timeoutMs: hangTimeoutMs() });
    return followed;
  }

  /** 200 for a user who is admitted, otherwise the status of the refusal. */
  async use(token: string): Promise<number> {
    const answer = await this.guard.authorize(`Bearer ${token}`);
    return answer.ok ? 200 : answer.status;
  }

  /** Waits until the guard has applied a complete page that it requested later than that. */
  async untilHeard(since: number): Promise<void> {
    const name = `${this.service.name} hears of what has ended`;
    await waitFor(name, hangTimeoutMs(), () => this.appliedSince > since, 10);
  }

  close(): Promise<void> {
    return this.guard.close();
  }

  private readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.pathname !== '/api/events') return fetch(input, init);
    // The guard requests a page when it has applied the one before.
    this.appliedSince = this.completeSince;
    const began = performance.now();
    const { status, headers, ...answer } = await textOf(await fetch(input, init));
    if (this.isTorn) return new Response(answer.text.slice(0, answer.text.length / 2), { status, headers });
    const { events } = JSON.parse(answer.text) as { events?: unknown[] };
    if (events && events.length < PAGE) this.completeSince = began;
    return new Response(answer.text, { status, headers });
  };
}

async function textOf(response: Response) {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A token at one of the services, and the names of all that it depends on. */
export interface Use {
  at: number;
  token: string;
  links: readonly string[];
}

export interface Login {
  userId: string;
  /** of the login itself, for Accounts */
  token: string;
  uses: Use[];
}

/** Services of one installation, and what they hold. Sessions are rows, so that thousands of them take no minutes. */
export class DelegatingServices {
  private constructor(
    readonly installation: Installation,
    readonly services: readonly ServiceClient[],
  ) {}

  static async of(installation: Installation, count: number): Promise<DelegatingServices> {
    const scopes = ['introspect', 'memberships', 'events'] as const;
    const { db } = installation;
    return new DelegatingServices(
      installation,
      await Promise.all(times(count, () => aServiceClient(db, scopes))),
    );
  }

  /** A user with one login, which has handed itself to every service in each of its branches. */
  async aLogin(branches: number): Promise<Login> {
    const { db } = this.installation;
    const [userId, login] = [randomUUIDv7(), randomUUIDv7()];
    const now = Date.now();
    const lifetime = { auth_time: now, created_at: now, expires_at: now + HOUR_S * 1000 };
    const shared = { user_id: userId, ...lifetime };
    await insertRow(db, 'users', { id: userId });
    await insertRow(db, 'sessions', { id: login, ...shared });
    const rows = times(branches, () => {
      const head = randomUUIDv7();
      return this.services.map(({ name }, at) => ({
        id: at === 0 ? head : randomUUIDv7(),
        branch_id: head,
        service: name,
      }));
    }).flat();
    const inserted = rows.map((row) => ({ ...row, code_hash: row.id, bound_epoch: 0, login_id: login }));
    await insertRows(db, 'sessions', inserted, shared);
    const uses = rows.map(({ id, branch_id: head, service: aud }) => {
      const branch = id === head ? {} : { branch_sid: head };
      const token = this.sign({ aud, client_id: aud, sub: userId, sid: id, login_sid: login, ...branch });
      const at = this.services.findIndex(({ name }) => name === aud);
      return { at, token, links: [userId, login, head] };
    });
    const own = this.sign({ aud: 'accounts', client_id: 'accounts', sub: userId, sid: login });
    return { userId, token: own, uses };
  }

  /** The access token of an operator who has shown a second factor. */
  async anOperator(): Promise<string> {
    const { db } = this.installation;
    const [sub, sid] = [randomUUIDv7(), randomUUIDv7()];
    const now = Date.now();
    const marks = { operator_since: now, email_verified_at: now, second_factor_at: now };
    await insertRow(db, 'users', { id: sub, ...marks });
    const lifetime = { auth_time: now, created_at: now, expires_at: now + HOUR_S * 1000 };
    await insertRow(db, 'sessions', { id: sid, user_id: sub, amr: 'pwd otp', ...lifetime });
    return this.sign({ aud: 'accounts', client_id: 'accounts', sub, sid, amr: ['pwd', 'otp'] });
  }

  /** Hands the user of that token on to the next service. */
  async handOn(url: string, { at, token, links }: Use): Promise<Use> {
    const next = this.services[at + 1]!;
    const answer = await this.requestToken(url, at, tokenRequest(next.name, token));
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
    const handedOn = (JSON.parse(answer.text) as ServiceToken).access_token;
    return { at: at + 1, token: handedOn, links: [...links, `call from ${at}`] };
  }

  async requestToken(url: string, at: number, parameters: Record<string, string>) {
    return textOf(await this.sendForm(url, '/api/auth/token', at, parameters));
  }

  /** Whether the instance accepts the token; undefined if it does not answer that. */
  async isActive(url: string, { at, token }: Use): Promise<boolean | undefined> {
    const response = await this.sendForm(url, '/api/auth/introspect', at, { token });
    const { active } = (await response.json()) as { active?: boolean };
    return response.status === 200 ? active : undefined;
  }

  private sendForm(url: string, path: string, at: number, body: Record<string, string>): Promise<Response> {
    const { authorization } = this.services[at]!;
    const signal = AbortSignal.timeout(hangTimeoutMs());
    return fetch(url + path, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams(body),
      signal,
    });
  }

  private sign(claims: Record<string, unknown>): string {
    const [key] = this.installation.keys;
    const now = Math.floor(Date.now() / 1000);
    const stamps = { jti: randomUUIDv7(), iat: now, exp: now + HOUR_S, auth_time: now };
    const header = { alg: 'ES256', typ: 'at+jwt', kid: key!.kid };
    return signToken(header, { iss: 'accounts', amr: ['pwd'], epoch: 0, ...claims, ...stamps }, key!);
  }
}

/** What operators do by the command line, without the second that a command takes to start. Not on SQLite. */
export async function operatorOf(installation: Installation) {
  const dataSource = await aDataSource(installation);
  const module = CliModule.forRoot(parseEnv(installation.env), dataSource);
  const context = await NestFactory.createApplicationContext(module, {
    logger: false,
    abortOnError: false,
  });
  const changes = context.get(ServiceChanges);
  const call = (caller: string, callee: string) => ({ caller, callee });
  return {
    allow: (from: ServiceClient, to: ServiceClient) => changes.allowCall(call(from.name, to.name), OPERATOR),
    revoke: (from: ServiceClient, to: ServiceClient) =>
      changes.revokeCall(call(from.name, to.name), OPERATOR),
    disable: ({ name }: ServiceClient) => changes.disable(name, OPERATOR),
    enable: ({ name }: ServiceClient) => changes.enable(name, OPERATOR),
    close: () => dataSource.destroy(),
  };
}
