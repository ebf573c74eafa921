import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Admission,
  createGuard,
  type Guard,
  type KeyAdmission,
  type Refusal,
  type ServiceAdmission,
} from '../../../client/src/service/index.ts';
import { Door } from '../../client/support/door.js';
import { closeAfterTest } from '../../faults/support/deployment.js';
import { accountsJson, BY_ROOT } from '../../support/accounts-command.js';
import type { Role } from '../../support/personas.js';
import { asRecord, asRecords, asString } from '../../support/service-client.js';
import { basic, tokenRequest } from '../../support/services.js';
import type { Introspection, Link, Poll, Span } from '../history.js';
import type { Stage } from '../set-ups.js';
import { type Client, type Request, resultOf } from './client.js';

export const NAMES = ['billing', 'orders', 'ledger', 'audit', 'archive'] as const;
/** They accept API keys, and no other client disables them. */
export const KEY_SERVICES = ['vault', 'exports'] as const;
export const [FIRST, SECOND, LAST] = ['billing', 'orders', 'archive'] as const;
/** How many events a guard requests at once. */
const PAGE = 1000;
const SCOPES = 'introspect,memberships,events';
const EVENTS = '/api/events';
const TOKENS = '/api/auth/token';
const REASON = { reason: 'a test' };
const MOST_FROZEN_MS = 1000;

export interface Held {
  token: string;
  links: readonly Link[];
}

/** A token for a service. */
export interface Bound extends Held {
  audience: string;
  /** got by a service for itself */
  isOwn?: true;
  requirement?: { orgId: string; role: Role; keys: true };
}

interface InternalService {
  authorization: string;
  guard: Guard;
}

/** Five services whose guards reach the instances through one proxy, which moves on when a request has failed. */
export class Delegation {
  readonly polls: Poll[] = [];
  private readonly services = new Map<string, InternalService>();
  private readonly issued = new Map<string, Span>();
  private at = 0;

  private constructor(
    private readonly instances: readonly string[],
    private readonly door: Door,
    private readonly operator: string,
    private readonly stage: Stage,
  ) {}

  /** To be called before any fault: it needs every answer. */
  static async start(client: Client, stage: Stage): Promise<Delegation> {
    const { services, place } = stage;
    const operator = (await client.register('operator'))!;
    await accountsJson(place, ['operators', 'grant', operator.email, '--force', ...BY_ROOT]);
    const urls = services.map(({ url }) => url);
    const door = await closeAfterTest(Door.open(urls[0]!));
    const delegation = new Delegation(urls, door, operator.token, stage);
    for (const name of [...NAMES, ...KEY_SERVICES]) {
      const scopes = NAMES.some((one) => one === name) ? SCOPES : `${SCOPES},keys`;
      const add = ['services', 'add', name, '--allow', scopes, ...BY_ROOT];
      const [added] = await accountsJson<{ secret: string }>(place, add);
      await delegation.add(name, added!.secret);
    }
    const calls = NAMES.flatMap((caller, index) => NAMES.slice(index + 1).map((callee) => [caller, callee]));
    for (const [caller, callee] of [...calls, [LAST, FIRST], KEY_SERVICES])
      if (!(await client.ask(...delegation.allowing(`${caller}>${callee}`))))
        throw new Error('a call was not allowed');
    return delegation;
  }

  private async add(name: string, secret: string): Promise<void> {
    const guard = createGuard({
      issuer: 'accounts',
      baseUrl: this.door.url,
      audience: name,
      credentials: { name, secret },
      maxStaleness: 4,
      fetch: this.fetchOf(name),
      log: { warn: () => undefined },
    });
    await closeAfterTest(guard);
    await guard.ready();
    this.services.set(name, { authorization: basic(name, secret), guard });
  }

  /** Notes when each complete poll of the feed and each token was requested. */
  private fetchOf(guard: string): typeof fetch {
    let latest: Poll | undefined;
    return async (input, init) => {
      const { at } = this;
      const startedAt = performance.now();
      const path = new URL(input instanceof Request ? input.url : input).pathname;
      // The guard requests the next events when it has applied the previous ones.
      if (path === EVENTS && latest) this.polls.push({ ...latest, endedAt: startedAt });
      if (path === EVENTS) latest = undefined;
      try {
        const response = await fetch(input, init);
        if (!response.ok || (path !== EVENTS && path !== TOKENS)) return response;
        const body = (await response.clone().json()) as Record<string, unknown>;
        const answered = { startedAt, endedAt: performance.now() };
        if (path === TOKENS) this.issued.set(asString(body['access_token']), answered);
        else if (asRecords(body['events']).length < PAGE) latest = { guard, ...answered };
        return response;
      } catch (error) {
        if (this.at === at) this.moveOn();
        throw error;
      }
    };
  }

  private moveOn(): void {
    this.at = (this.at + 1) % this.instances.length;
    this.door.leadTo(this.instances[this.at]!);
  }

  /** Not noted: a guard may not have received yet that access was given back. */
  async admits({ token, audience, requirement }: Bound): Promise<boolean> {
    return (await this.services.get(audience)!.guard.authorize(`Bearer ${token}`, requirement!)).ok;
  }

  async use(
    client: Client,
    { token, audience, links, isOwn, requirement }: Bound,
  ): Promise<Admission | KeyAdmission | ServiceAdmission | Refusal> {
    const { guard } = this.services.get(audience)!;
    const [startedAt, instance] = [performance.now(), this.at];
    const answer = isOwn
      ? await guard.authorizeService(`Bearer ${token}`, { from: [...NAMES] })
      : await (requirement
          ? guard.authorize(`Bearer ${token}`, requirement)
          : guard.authorize(`Bearer ${token}`));
    const status = answer.ok ? 200 : answer.status;
    const timing = { startedAt, endedAt: performance.now(), result: resultOf(status), status, instance };
    client.operations.push({ kind: 'admission', guard: audience, links, ...timing });
    return answer;
  }

  async introspect(client: Client, { token, audience, links }: Bound): Promise<void> {
    const { authorization } = this.services.get(audience)!;
    const request: Request = [
      'POST',
      '/api/auth/introspect',
      { form: { token }, headers: { authorization } },
    ];
    await client.record<Introspection>({ kind: 'introspection', links }, request, ({ body }) => ({
      isActive: body['active'] === true,
    }));
  }

  /** By Accounts itself. */
  async hasRole(
    client: Client,
    token: string,
    audience: string,
    orgId: string,
    role: string,
  ): Promise<boolean> {
    const headers = { authorization: this.services.get(audience)!.authorization };
    const reply = await client.ask('POST', '/api/auth/introspect', { form: { token, orgId }, headers });
    return reply !== undefined && asRecord(reply.body['org'] ?? {})['role'] === role;
  }

  /** Opens a session by a one-time code: for a service, or else a direct one. */
  async open(
    client: Client,
    { token, links }: Held,
    name: string,
    audience?: string,
  ): Promise<Held | undefined> {
    const since = performance.now();
    const issued = await client.ask('POST', '/api/auth/code', { token, body: { audience } });
    if (!issued) return undefined;
    const { authorization } = this.services.get(audience ?? FIRST)!;
    const options = { body: { code: issued.body['code'] }, ...(audience && { headers: { authorization } }) };
    const opened = await client.ask('POST', '/api/auth/code/exchange', options);
    const isHead = links.every((link) => !link.name.startsWith('head'));
    const names = [...(isHead ? [`head ${name}`] : []), ...(audience ? [`service ${audience}`] : [])];
    return (
      opened && { token: asString(opened.body['token']), links: [...links, ...linksSince(since, names)] }
    );
  }

  /** Gets a token for another service by the guard, which may keep it. */
  async handOn(client: Client, held: Bound, audience: string): Promise<Bound | undefined> {
    const admission = await this.use(client, held);
    if (!admission.ok || 'service' in admission) return undefined;
    const answer = await this.services.get(held.audience)!.guard.tokenFor(audience, admission);
    if (!answer.ok) return undefined;
    const names = [`call ${held.audience}>${audience}`, `service ${audience}`];
    const links = [...held.links, ...this.linksOf(answer.token, names)];
    const { requirement } = held;
    return { token: answer.token, audience, links, ...(requirement && { requirement }) };
  }

  async ownToken(caller: string, audience: string): Promise<Bound | undefined> {
    const answer = await this.services.get(caller)!.guard.ownTokenFor(audience);
    if (!answer.ok) return undefined;
    const names = [`call ${caller}>${audience}`, `service ${caller}`, `service ${audience}`];
    return { token: answer.token, audience, links: this.linksOf(answer.token, names), isOwn: true };
  }

  /** Gets a token for another service without the guard. */
  async exchange(client: Client, held: Bound, audience: string): Promise<Bound | undefined> {
    const since = performance.now();
    const { authorization } = this.services.get(held.audience)!;
    const form = tokenRequest(audience, held.token);
    const reply = await client.ask('POST', TOKENS, { form, headers: { authorization } });
    const links = linksSince(since, [`call ${held.audience}>${audience}`, `service ${audience}`]);
    return (
      reply && { token: asString(reply.body['access_token']), audience, links: [...held.links, ...links] }
    );
  }

  revokingKey = (id: string): Request => this.operation(`keys/${id}/revoke`);
  disabling = (name: string): Request => this.operation(`services/${name}/disable`);
  enabling = (name: string): Request => this.operation(`services/${name}/enable`);
  endingSessions = (userId: string): Request => this.operation(`users/${userId}/end-sessions`);
  disablingUser = (userId: string): Request => this.operation(`users/${userId}/disable`);
  enablingUser = (userId: string): Request => this.operation(`users/${userId}/enable`);

  allowing(call: string): Request {
    const [caller, to] = call.split('>');
    return this.operation(`services/${caller}/calls`, { to });
  }

  revoking(call: string): Request {
    const [caller, to] = call.split('>');
    return this.operation(`services/${caller}/calls/${to}/revoke`);
  }

  /** By the command line, the only way. */
  async allowKeys(client: Client, service: string, scope: 'keys' | 'none', link: string): Promise<boolean> {
    const scopes = scope === 'keys' ? `${SCOPES},keys` : SCOPES;
    const startedAt = performance.now();
    const command = ['services', 'allow', service, scopes, ...BY_ROOT];
    const isDone = await accountsJson(this.stage.place, command).then(
      () => true,
      () => false,
    );
    const timing = { startedAt, endedAt: performance.now(), instance: 0, status: isDone ? 200 : undefined };
    if (scope === 'none')
      client.operations.push({ kind: 'cut', link, ...timing, result: isDone ? 'ok' : 'unknown' });
    return isDone;
  }

  /** Only if the run has faults. */
  async whileFrozen(instance: number, work: Promise<void>): Promise<void> {
    const service = this.stage.faults.length > 0 ? this.stage.services[instance] : undefined;
    try {
      service?.freeze();
      await Promise.race([work, sleep(MOST_FROZEN_MS)]);
      service?.thaw();
    } catch (error) {
      // Another fault has killed it.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
    await work;
  }

  private operation(path: string, body: object = {}): Request {
    return ['POST', `/api/operators/${path}`, { token: this.operator, body: { ...body, ...REASON } }];
  }

  private linksOf(token: string, names: readonly string[]): Link[] {
    const since = this.issued.get(token)!;
    return names.map((name) => ({ name, ...since }));
  }
}

export function linksSince(startedAt: number, names: readonly string[]): Link[] {
  return names.map((name) => ({ name, startedAt, endedAt: performance.now() }));
}
