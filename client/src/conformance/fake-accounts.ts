import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { KeyClaims } from '../service/claims.ts';
import { lowerOf } from '../service/requirement.ts';
import { Changes } from './changes.ts';
import { type Answer, Deliveries, problem, send } from './deliveries.ts';
import { FakeFeed } from './fake-feed.ts';
import { type Change, type Fault, type Given, type Route, SERVICE } from './script.ts';
import { AccessTokens } from './tokens.ts';
import { World } from './world.ts';

const PATHS: Record<string, Route> = {
  '/api/events': 'events',
  '/api/auth/introspect': 'introspect',
  '/api/memberships': 'memberships',
  '/.well-known/jwks.json': 'keys',
};
const CONFIG = {
  registration: 'open',
  emailVerification: 'optional',
  passwordMinLength: 8,
  emailEnabled: true,
  tokenAudience: 'accounts',
};

const ok = (body: object): Answer => ({ status: 200, body });

/** An Accounts on loopback, which does what a script wants: it changes its world, fails, or holds answers back. */
export class FakeAccounts {
  readonly world: World;
  private readonly changes: Changes;
  readonly tokens: AccessTokens;
  readonly feed: FakeFeed;
  readonly deliveries = new Deliveries();
  secret = 'acs_first';
  private readonly counts = new Map<Route, number>();
  private readonly server: Server;

  private constructor(given: Given) {
    this.world = new World(given);
    this.changes = new Changes(this.world);
    this.tokens = new AccessTokens(this.world, () => this.url);
    this.feed = new FakeFeed(this.world);
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  static async open(given: Given): Promise<FakeAccounts> {
    const fake = new FakeAccounts(given);
    await once(fake.server.listen(0, '127.0.0.1'), 'listening');
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  change(change: Change): void {
    this.changes.apply(change);
    this.feed.wake();
  }

  fail(route: Route, fault: Fault): void {
    this.deliveries.faults.set(route, fault);
    this.feed.wake();
  }

  rotate(): void {
    this.secret = 'acs_second';
  }

  restore(): void {
    this.world.restore();
    this.feed.expire();
  }

  /** How often the guard asked about a user or a token of this world. */
  count(route: Route): number {
    return this.counts.get(route) ?? 0;
  }

  /** The header `Accounts-Revision` of a client that has seen a state of so many changes later. */
  revisionOf(name: string, ahead: number): string {
    const { id, revision } = this.world.orgs.get(name)!;
    return `${id}=${revision + ahead}`;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, this.url);
    const form = new URLSearchParams(await text(request).catch(() => ''));
    const route = PATHS[pathname];
    if (route === undefined) {
      send(response, this.other(pathname));
      return;
    }
    const answer = this.isKnown(request, route)
      ? await this.answer(route, route === 'introspect' ? form : searchParams, response)
      : problem(401, 'invalid_client');
    this.deliveries.deliver(route, response, answer);
  }

  private isKnown({ headers }: IncomingMessage, route: Route): boolean {
    const expected = `Basic ${Buffer.from(`${SERVICE}:${this.secret}`).toString('base64')}`;
    return route === 'keys' || (headers.authorization === expected && !this.world.isDisabled);
  }

  private async answer(route: Route, query: URLSearchParams, response: ServerResponse): Promise<Answer> {
    const isInterrupted = (): boolean => this.deliveries.faults.has('events') || response.destroyed;
    if (route === 'events') return this.feed.page(query, isInterrupted);
    if (route === 'memberships') return this.listMemberships(query.get('orgId'), query.get('userId'));
    if (route === 'introspect') return this.introspect(query.get('token') ?? '', query.get('orgId'));
    this.note(route);
    return ok(this.tokens.keySet);
  }

  private listMemberships(orgId: string | null, userId: string | null): Answer {
    if ([...this.world.users.values()].some(({ id }) => id === userId)) this.note('memberships');
    return ok({ memberships: this.world.memberships(orgId, userId) });
  }

  private introspect(token: string, orgId: string | null): Answer {
    if (this.tokens.hasIssued(token)) this.note('introspect');
    const claims = this.tokens.liveClaims(token);
    if (claims === undefined) return ok({ active: false });
    const answer = { active: true, token_type: 'Bearer', ...claims };
    if (orgId === null) return ok(answer);
    const [member] = this.world.memberships(orgId, claims.sub);
    const key = claims['key'] as KeyClaims['key'] | undefined;
    if (!member || (key && key.org !== null && key.org !== orgId)) return ok({ ...answer, org: null });
    const role = key ? lowerOf(member.role, key.role) : member.role;
    return ok({ ...answer, org: { id: orgId, role, revision: member.orgRevision } });
  }

  private note(route: Route): void {
    this.counts.set(route, this.count(route) + 1);
  }

  private other(path: string): Answer {
    if (path === '/api/auth/config') return ok({ ...CONFIG, issuer: this.url });
    // Where a redirect leads: a stranger who admits every user.
    if (path === '/elsewhere')
      return ok({ active: true, memberships: [], events: [], keys: [], next: this.feed.cursor });
    return problem(404, 'not_found');
  }
}
