import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Admission,
  createGuard,
  type Guard,
  type Refusal,
  type ServiceAdmission,
} from '../../../client/src/service/index.ts';
import { Door } from '../../client/support/door.js';
import { closeAfterTest } from '../../faults/support/deployment.js';
import { accountsJson, BY_ROOT } from '../../support/accounts-command.js';
import { atOnce, times } from '../../support/at-once.js';
import { asRecords, asString, type Reply } from '../../support/service-client.js';
import { basic, tokenRequest } from '../../support/services.js';
import type { Introspection, Link, Poll, Span } from '../history.js';
import type { Stage } from '../set-ups.js';
import { type Client, type Request, resultOf } from './client.js';

const NAMES = ['billing', 'orders', 'ledger', 'audit', 'archive'] as const;
const [FIRST, SECOND, LAST] = ['billing', 'orders', 'archive'] as const;
/** How many events a guard requests at once. */
const PAGE = 1000;
const EVENTS = '/api/events';
const TOKENS = '/api/auth/token';
const REASON = { reason: 'a test' };
const PAUSE_MS = 20;
const ATTEMPTS = 10;
/** Longer than a guard may admit what has ended. */
const PATIENCE_MS = 6000;

interface Held {
  token: string;
  links: readonly Link[];
}

/** A token for a service. */
interface Bound extends Held {
  audience: string;
  /** got by a service for itself */
  isOwn?: true;
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
  ) {}

  /** To be called before any fault: it needs every answer. */
  static async start(client: Client, { services, place }: Stage): Promise<Delegation> {
    const operator = (await client.register('operator'))!;
    await accountsJson(place, ['operators', 'grant', operator.email, '--force', ...BY_ROOT]);
    const urls = services.map(({ url }) => url);
    const door = await closeAfterTest(Door.open(urls[0]!));
    const delegation = new Delegation(urls, door, operator.token);
    for (const name of NAMES) {
      const add = ['services', 'add', name, '--allow', 'introspect,memberships,events', ...BY_ROOT];
      const [added] = await accountsJson<{ secret: string }>(place, add);
      await delegation.add(name, added!.secret);
    }
    const calls = NAMES.flatMap((caller, index) => NAMES.slice(index + 1).map((callee) => [caller, callee]));
    for (const [caller, callee] of [...calls, [LAST, FIRST]])
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

  async use(
    client: Client,
    { token, audience, links, isOwn }: Bound,
  ): Promise<Admission | ServiceAdmission | Refusal> {
    const { guard } = this.services.get(audience)!;
    const [startedAt, instance] = [performance.now(), this.at];
    const answer = isOwn
      ? await guard.authorizeService(`Bearer ${token}`, { from: [...NAMES] })
      : await guard.authorize(`Bearer ${token}`);
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
    return { token: answer.token, audience, links: [...held.links, ...this.linksOf(answer.token, names)] };
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

  private operation(path: string, body: object = {}): Request {
    return ['POST', `/api/operators/${path}`, { token: this.operator, body: { ...body, ...REASON } }];
  }

  private linksOf(token: string, names: readonly string[]): Link[] {
    const since = this.issued.get(token)!;
    return names.map((name) => ({ name, ...since }));
  }
}

function linksSince(startedAt: number, names: readonly string[]): Link[] {
  return names.map((name) => ({ name, startedAt, endedAt: performance.now() }));
}

/** A link, the request that ends it, and what makes new tokens possible. */
type Ending = [link: string, end: Request, repair?: Request];

async function cut(client: Client, [link, end]: Ending, instance?: number): Promise<Reply | undefined> {
  return client.record({ kind: 'cut', link }, end, undefined, instance);
}

async function repaired(client: Client, [, , repair]: Ending): Promise<void> {
  if (!repair) return;
  while (!(await client.ask(...repair))) await sleep(PAUSE_MS);
}

/** Tries again if a fault has struck. */
async function inTheEnd<T>(attempt: (count: number) => Promise<T | undefined>): Promise<T | undefined> {
  for (let count = 0; count < ATTEMPTS; count += 1) {
    const done = await attempt(count);
    if (done !== undefined) return done;
    await sleep(PAUSE_MS);
  }
  return undefined;
}

/** Two logins of a user, and what they handed on: codes for a service, a second hand-off, ways of several services. */
async function aTree(delegation: Delegation, client: Client, name: string) {
  const since = performance.now();
  const first = await inTheEnd((count) => client.register(`${name}-${count}`));
  if (!first) return undefined;
  const { id, email, password, token } = first;
  const second = await inTheEnd(() => client.ask('POST', '/api/auth/login', { body: { email, password } }));
  if (!second) return undefined;
  const loginOf = (login: string, its: string): Held => ({
    token: its,
    links: linksSince(since, [`sessions ${id}`, `account ${id}`, `login ${login}`]),
  });
  const login = loginOf(name, token);
  const other = loginOf(`${name}-other`, asString(second.body['token']));
  const head = await inTheEnd(() => delegation.open(client, login, `${name}/head`));
  const [start, ...way] = NAMES.filter(() => client.random.between(0, 3) > 0);
  const end = way.at(-1);
  if (!head || start === undefined || end === undefined) return undefined;

  const all: Bound[] = [];
  const roots: Bound[] = [];
  const keep = (held: Bound | undefined): void => void (held && all.push(held));
  for (const [index, above] of [login, head, other].entries()) {
    const opened = await inTheEnd(() => delegation.open(client, above, `${name}/${index}`, start));
    if (!opened) return undefined;
    const root = { ...opened, audience: start };
    roots.push(root);
    keep(root);
    keep(await inTheEnd(() => delegation.handOn(client, root, end)));
    let holder: Bound | undefined = root;
    for (const next of way.length > 1 ? way : []) {
      const from: Bound | undefined = holder;
      holder = from && (await inTheEnd(() => delegation.handOn(client, from, next)));
      keep(holder);
    }
  }
  keep(await inTheEnd(() => delegation.ownToken(start, end)));
  return { name, id, login, head, roots, all, way: [start, ...way] };
}

type Tree = NonNullable<Awaited<ReturnType<typeof aTree>>>;

/** From the least to all that the tree has. */
function endingsOfSessions(delegation: Delegation, { random }: Client, tree: Tree): Ending[] {
  const { name, id, login, head, roots } = tree;
  const logOut = ({ token }: Held): Request => ['POST', '/api/auth/logout', { token }];
  const all: Ending[] = [
    [`head ${name}/0`, logOut(roots[0]!)],
    [`head ${name}/head`, logOut(random.pick([head, roots[1]!]))],
    [`login ${name}`, logOut(login)],
    random.pick<Ending>([
      [`sessions ${id}`, delegation.endingSessions(id)],
      [`account ${id}`, delegation.disablingUser(id), delegation.enablingUser(id)],
    ]),
  ];
  return all.filter(() => random.between(0, 1) > 0);
}

function endingsOfCalls(delegation: Delegation, { random }: Client, { way }: Tree): Ending[] {
  const call = (index: number): Ending => {
    const name = `${way[index - 1]}>${way[index]}`;
    return [`call ${name}`, delegation.revoking(name), delegation.allowing(name)];
  };
  const last = random.between(1, way.length - 1);
  const name = random.pick(way);
  const service: Ending = [`service ${name}`, delegation.disabling(name), delegation.enabling(name)];
  return [call(last), ...(random.between(0, 2) > 0 ? [call(random.between(1, last))] : [service])];
}

const endWhileHandedOn =
  (endingsOf: typeof endingsOfCalls) =>
  (delegation: Delegation) =>
  async (client: Client, name: string): Promise<void> => {
    const tree = await aTree(delegation, client, name);
    if (!tree) return;
    const over = new AbortController();
    const useAll = async (): Promise<void> => {
      do {
        for (const held of tree.all) await delegation.use(client, held);
        await sleep(PAUSE_MS);
      } while (!over.signal.aborted);
    };
    const introspectAll = async (): Promise<void> => {
      for (const held of tree.all) await delegation.introspect(client, held);
    };
    const endAll = async (): Promise<void> => {
      for (const ending of endingsOf(delegation, client, tree)) {
        const done = await cut(client, ending);
        if (done) await untilRefused(delegation, client, tree, ending[0]);
        await introspectAll();
        await repaired(client, ending);
        await introspectAll();
      }
      over.abort();
    };
    await atOnce([useAll, endAll]);
    await useAll();
  };

export const endSessionWhileHandedOn = endWhileHandedOn(endingsOfSessions);
export const endCallWhileHandedOn = endWhileHandedOn(endingsOfCalls);

/** Uses all tokens until none that names the link is admitted. */
async function untilRefused(
  delegation: Delegation,
  client: Client,
  { all }: Tree,
  link: string,
): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let isAdmitted = true; isAdmitted && performance.now() < until; await sleep(PAUSE_MS)) {
    isAdmitted = false;
    for (const held of all) {
      const { ok } = await delegation.use(client, held);
      isAdmitted ||= ok && held.links.some(({ name }) => name === link);
    }
  }
}

/** Exchanges a token while a call on its way is revoked and allowed again. An instance may be frozen in an exchange. */
export const exchangeWhileRevoked =
  (delegation: Delegation) =>
  async (client: Client, name: string): Promise<void> => {
    const since = performance.now();
    const login = await client.register(name);
    const links = linksSince(since, [`login ${name}`]);
    const opened = login && (await delegation.open(client, { token: login.token, links }, name, LAST));
    const subject = opened && (await delegation.exchange(client, { ...opened, audience: LAST }, FIRST));
    if (!subject) return;
    const call = `${LAST}>${FIRST}`;
    const ending: Ending = [`call ${call}`, delegation.revoking(call), delegation.allowing(call)];
    const got: Bound[] = [];
    const over = new AbortController();
    const exchange = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const held = await delegation.exchange(client, subject, SECOND);
        if (held) got.push(held);
        else await sleep(1);
      }
    };
    // A frozen instance answers too late, so each of them is asked.
    const revokeAndAllow = async (): Promise<void> => {
      const cuts = client.instances.map((_, instance) => cut(client, ending, instance));
      await Promise.race([Promise.all(cuts), ...cuts.map(async (one) => (await one) ?? Promise.all(cuts))]);
      const [, , repair] = ending;
      const repairs = client.instances.map(async (send) => send(...repair!).catch(() => undefined));
      await Promise.race(repairs);
      over.abort();
      await Promise.all([...cuts, ...repairs]);
    };
    await atOnce([revokeAndAllow, ...times(4, () => exchange)]);
    await repaired(client, ending);
    for (const held of got.slice(-8)) {
      await delegation.introspect(client, held);
      await delegation.use(client, held);
    }
  };
