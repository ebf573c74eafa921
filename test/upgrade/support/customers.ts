import { randomUUID } from 'node:crypto';
import { type Client, createClient, memoryStore, type Result } from '../../../client/src/index.ts';
import { createServiceClient, type ServiceClient } from '../../../client/src/service/index.ts';
import type { Database } from '../../support/database.js';
import { anEmail, aPassword } from '../../support/personas.js';
import type { ServiceClient as Credentials } from '../../support/services.js';

const HOUR_MS = 3_600_000;

interface Person {
  client: Client;
  id: string;
  email: string;
  password: string;
}

/**
 * What a company does all day, with the typed client: one loop, which alone changes its organization, and so knows what has
 * to be there. Every request must succeed, after the client's own retries at most.
 */
export class Customer {
  readonly failures: string[] = [];
  rounds = 0;
  requests = 0;

  private readonly service: ServiceClient;
  private owner!: Person;
  private orgId!: string;
  private orgName = 'Round 0';
  private readonly people: Person[] = [];
  private readonly gone: Person[] = [];
  private readonly roles = new Map<string, string>();
  private readonly pending = new Set<string>();
  private readonly liveTokens = new Map<string, string>();
  private readonly endedTokens: string[] = [];

  constructor(
    private readonly baseUrl: string,
    { name, secret }: Credentials,
    private readonly db: Database,
  ) {
    this.service = createServiceClient({ baseUrl, credentials: { name, secret } });
  }

  async begin(): Promise<void> {
    this.owner = await this.register();
    const { org } = await this.done(this.owner.client.createOrg({ name: this.orgName }));
    this.orgId = org.id;
    this.roles.set(this.owner.id, 'owner');
  }

  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      try {
        await this.round();
      } catch (error) {
        this.failures.push(String(error));
        return;
      }
    }
  }

  async round(): Promise<void> {
    const { orgId, owner } = this;
    const one = await this.invited();
    await this.done(owner.client.changeMemberRole({ orgId, userId: one.id, role: 'admin' }));
    this.roles.set(one.id, 'admin');
    await this.handOff(one);
    await this.logInAgain(one);
    for (const laterMs of [0, HOUR_MS]) await this.refreshAgain(one, laterMs);
    await this.exchangeAgain(one);
    await this.done(one.client.getAuthConfig());
    await this.done(one.client.updateProfile({ name: `Ada ${this.rounds}` }));
    await this.changePassword(one);
    await this.done(owner.client.refresh());
    const invitation = { orgId, email: anEmail('nobody'), role: 'member', showCode: true } as const;
    this.pending.add((await this.done(owner.client.createInvitation(invitation))).invitation.id);
    this.rounds += 1;
    const name = `Round ${this.rounds}`;
    await this.done(owner.client.updateOrg({ orgId, name }));
    this.orgName = name;
    if (this.rounds % 3 === 0) await this.moveOthers();
  }

  /** What was acknowledged and is not so; empty: nothing is lost. */
  async faults(): Promise<string[]> {
    const { db } = this;
    const faults: string[] = [];
    const compare = (what: string, found: unknown, expected: unknown): void => {
      const [is, should] = [JSON.stringify(found), JSON.stringify(expected)];
      if (is !== should) faults.push(`${what}: ${is}, not ${should}`);
    };
    const members = await db.query('SELECT user_id, role FROM members WHERE org_id = ?', [this.orgId]);
    compare(
      'members',
      sorted(members.map(({ user_id, role }) => `${user_id} ${role}`)),
      sorted([...this.roles].map(([id, role]) => `${id} ${role}`)),
    );
    const [org] = await db.query('SELECT name FROM orgs WHERE id = ?', [this.orgId]);
    compare('name', org?.['name'], this.orgName);
    const invitations = await db.query('SELECT id FROM invitations WHERE org_id = ? AND pending = 1', [
      this.orgId,
    ]);
    compare('invitations', sorted(invitations.map(({ id }) => String(id))), sorted([...this.pending]));
    for (const { email, id } of [this.owner, ...this.people, ...this.gone]) {
      const [user] = await db.query('SELECT id FROM users WHERE email = ?', [email]);
      compare(email, user?.['id'], this.gone.some((each) => each.id === id) ? undefined : id);
    }
    for (const [token, id] of this.liveTokens) {
      const { active, sub } = await this.done(this.service.introspectToken({ token }));
      compare('live token', [active, sub], [true, id]);
    }
    for (const token of this.endedTokens)
      compare('ended token', (await this.done(this.service.introspectToken({ token }))).active, false);
    for (const { client, id, email, password } of [this.owner, ...this.people]) {
      await this.done(client.refresh());
      compare('session', (await this.done(client.getMe())).user.id, id);
      const login = this.clientOf();
      compare('login', (await this.done(login.login({ email, password }))).user.id, id);
    }
    return [...faults, ...this.failures];
  }

  private async register(): Promise<Person> {
    const client = this.clientOf();
    const [email, password] = [anEmail('upgrade'), aPassword()];
    const { user } = await this.done(client.register({ email, password }));
    return { client, id: user.id, email, password };
  }

  private async invited(): Promise<Person> {
    const { orgId } = this;
    const one = await this.register();
    const wish = { orgId, email: one.email, role: 'member', showCode: true } as const;
    const { invitation } = await this.done(this.owner.client.createInvitation(wish));
    await this.done(one.client.acceptInvitationByCode({ code: (invitation as { code: string }).code }));
    this.roles.set(one.id, 'member');
    this.people.push(one);
    return one;
  }

  /** The service has a session of the user until the password changes. */
  private async handOff({ client, id }: Person): Promise<void> {
    const { code } = await this.done(client.issueCode());
    const { token } = await this.done(this.service.exchangeCode({ code }));
    const { active } = await this.done(this.service.introspectToken({ token, orgId: this.orgId }));
    if (!active) throw new Error(`the token of a code for ${id} is not active`);
    this.endedTokens.push(token);
  }

  private async logInAgain({ email, password }: Person): Promise<void> {
    const client = this.clientOf();
    const { token } = await this.done(client.login({ email, password }));
    await this.done(client.getMe({ include: ['roles'] }));
    await this.done(client.logOut());
    this.endedTokens.push(token);
  }

  /** A client that lost the response of a refresh sends the previous refresh token again. */
  private async refreshAgain({ email, password, id }: Person, laterMs: number): Promise<void> {
    const [lost, store] = [memoryStore(), memoryStore()];
    const losing = createClient({ baseUrl: this.baseUrl, store: lost });
    await this.done(losing.login({ email, password }));
    const previous = (await lost.load())!;
    await store.save(previous);
    await this.done(losing.refresh());
    const rotatedEarlier = 'UPDATE sessions SET rotated_at = rotated_at - ? WHERE id = ?';
    await this.db.query(rotatedEarlier, [laterMs, previous.split('.', 1)[0]!]);
    const client = createClient({ baseUrl: this.baseUrl, store });
    await this.done(client.refresh());
    const { user } = await this.done(client.getMe());
    if (user.id !== id) throw new Error(`the session of ${id} became one of ${user.id}`);
    await this.done(client.logOut());
  }

  /** A service that lost the response of an exchange sends it again with its key. */
  private async exchangeAgain({ client, id }: Person): Promise<void> {
    const { code } = await this.done(client.issueCode());
    const idempotencyKey = randomUUID();
    for (let count = 0; count < 2; count += 1) {
      const { token } = await this.done(this.service.exchangeCode({ code }, { idempotencyKey }));
      const { active } = await this.done(this.service.introspectToken({ token }));
      if (!active) throw new Error(`the token of a repeated exchange for ${id} is not active`);
    }
  }

  /** It ends every session of the user but this one. */
  private async changePassword(one: Person): Promise<void> {
    const newPassword = aPassword();
    await this.done(one.client.changePassword({ currentPassword: one.password, newPassword }));
    one.password = newPassword;
    const { code } = await this.done(one.client.issueCode());
    this.liveTokens.set((await this.done(this.service.exchangeCode({ code }))).token, one.id);
  }

  private async moveOthers(): Promise<void> {
    const { orgId, owner } = this;
    const [leaver, returner] = this.people.splice(0, 2) as [Person, Person];
    await this.done(owner.client.removeMember({ orgId, userId: returner.id }));
    await this.done(owner.client.addMember({ orgId, email: returner.email, role: 'member' }));
    this.roles.set(returner.id, 'member');
    this.people.push(returner);
    await this.done(leaver.client.deleteAccount({ password: leaver.password }));
    this.roles.delete(leaver.id);
    this.gone.push(leaver);
    for (const [token, id] of this.liveTokens) {
      if (id !== leaver.id) continue;
      this.liveTokens.delete(token);
      this.endedTokens.push(token);
    }
    const { org } = await this.done(owner.client.createOrg({ name: 'Short-lived' }));
    await this.done(owner.client.deleteOrg({ orgId: org.id }));
  }

  private clientOf(): Client {
    return createClient({ baseUrl: this.baseUrl, store: memoryStore() });
  }

  private async done<Data, Problem>(answer: Promise<Result<Data, Problem>>): Promise<Data> {
    const called = new Error('a request failed');
    const result = await answer;
    this.requests += 1;
    if (result.ok) return result.data;
    const [, , place = ''] = called.stack!.split('\n');
    throw new Error(`${JSON.stringify(result.problem)} ${place.trim()}`);
  }
}

const sorted = (texts: string[]): string[] => texts.toSorted((one, other) => one.localeCompare(other));
