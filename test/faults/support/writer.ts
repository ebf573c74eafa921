import type { Answered, MembershipWrite } from './invariants.js';
import type { Answer, Outcome } from '../../support/load.js';
import type { Random } from './random.js';
import type { Role } from './reference-model.js';
import { PASSWORD } from './restartable-service.js';
import { timed } from './timed-request.js';
import { WriteLedger } from './write-ledger.js';
import { asRecord, asString, type Reply, type Send } from '../../support/service-client.js';

export interface Person {
  id: string;
  email: string;
  token: string;
}

export interface Ledgers {
  /** by email */
  users: WriteLedger;
  /** by token: what opened it does not matter */
  sessions: WriteLedger;
  /** by name */
  orgs: WriteLedger;
  /** by code: whether it was exchanged */
  exchanges: WriteLedger;
  /** codes that were issued and not sent back yet */
  unused: Set<string>;
  members: MembershipWrite[];
}

export function emptyLedgers(): Ledgers {
  return {
    users: new WriteLedger(),
    sessions: new WriteLedger(),
    orgs: new WriteLedger(),
    exchanges: new WriteLedger(),
    unused: new Set(),
    members: [],
  };
}

const ROLES: readonly Role[] = ['member', 'admin', 'owner'];

/** A client that makes every kind of write, one after the other, and keeps what it was told of each. */
export class Writer {
  private me: Person | undefined;
  private others: readonly Person[] = [];
  private orgId = '';
  private count = 0;

  constructor(
    private readonly send: Send,
    private readonly name: string,
    private readonly random: Random,
    private readonly ledgers: Ledgers,
  ) {}

  /** To be called before any fault: it needs every answer. */
  async prepare(): Promise<void> {
    this.me = await this.aPerson();
    this.others = [await this.aPerson(), await this.aPerson(), await this.aPerson()];
    const { org, answered } = await this.createOrg();
    this.orgId = org;
    this.ledgers.members.push({ orgId: org, userId: this.me.id, role: 'owner', ...answered });
  }

  /** One write, or one that is read back. */
  async step(): Promise<Answer> {
    switch (this.random.between(0, 6)) {
      case 0:
        return (await this.register()).answer;
      case 1:
        return this.login();
      case 2:
        return this.issueCode();
      case 3:
        return this.exchange();
      case 4:
        return (await this.createOrg()).answer;
      default:
        return this.changeMember();
    }
  }

  private async aPerson(): Promise<Person> {
    const { answer, person } = await this.register();
    if (!person) throw new Error(`registering while nothing is wrong: ${answer.label}`);
    return person;
  }

  private async register(): Promise<{ answer: Answer; person: Person | undefined }> {
    const email = this.fresh('user') + '@example.com';
    this.ledgers.users.sent(email);
    const reply = await this.send('POST', '/api/auth/register', { body: { email, password: PASSWORD } });
    this.ledgers.users.answered(email, outcomeOf(reply));
    const answer = answerOf('register', reply);
    if (answer.outcome !== 'ok') return { answer, person: undefined };
    const token = this.tokenIn(reply);
    return { answer, person: { id: asString(asRecord(reply.body['user'])['id']), email, token } };
  }

  private async login(): Promise<Answer> {
    const { email } = this.owner;
    const reply = await this.send('POST', '/api/auth/login', { body: { email, password: PASSWORD } });
    if (outcomeOf(reply) === 'ok') this.tokenIn(reply);
    return answerOf('login', reply);
  }

  private async issueCode(): Promise<Answer> {
    const reply = await this.send('POST', '/api/auth/code', { token: this.owner.token });
    if (outcomeOf(reply) === 'ok') this.ledgers.unused.add(asString(reply.body['code']));
    return answerOf('code', reply);
  }

  private async exchange(): Promise<Answer> {
    const [code] = this.ledgers.unused;
    if (code === undefined) return this.issueCode();
    this.ledgers.unused.delete(code);
    this.ledgers.exchanges.sent(code);
    const reply = await this.send('POST', '/api/auth/code/exchange', { body: { code } });
    this.ledgers.exchanges.answered(code, outcomeOf(reply));
    if (outcomeOf(reply) === 'ok') this.tokenIn(reply);
    return answerOf('exchange', reply);
  }

  private async createOrg(): Promise<{ answer: Answer; org: string; answered: Answered }> {
    const name = this.fresh('org');
    this.ledgers.orgs.sent(name);
    const { token } = this.owner;
    const { reply, error, answered } = await timed(this.send, 'POST', '/api/orgs', { token, body: { name } });
    if (!reply) throw error;
    this.ledgers.orgs.answered(name, outcomeOf(reply));
    const org = outcomeOf(reply) === 'ok' ? asString(asRecord(reply.body['org'])['id']) : '';
    return { answer: answerOf('org', reply), org, answered };
  }

  /** Adds, changes or removes one of the others in this client's organization. */
  private async changeMember(): Promise<Answer> {
    const target = this.random.pick(this.others);
    const path = `/api/orgs/${this.orgId}/members`;
    const kind = this.random.pick(['add', 'change', 'remove'] as const);
    const role = kind === 'add' ? this.random.pick(['member', 'admin'] as const) : this.random.pick(ROLES);
    const write = { orgId: this.orgId, userId: target.id, role: kind === 'remove' ? undefined : role };
    const { token } = this.owner;
    const { reply, error, answered } =
      kind === 'add'
        ? await timed(this.send, 'POST', path, { token, body: { email: target.email, role } })
        : kind === 'change'
          ? await timed(this.send, 'PATCH', `${path}/${target.id}`, { token, body: { role } })
          : await timed(this.send, 'DELETE', `${path}/${target.id}`, { token });
    this.ledgers.members.push({ ...write, ...answered });
    if (!reply) throw error;
    return answerOf(kind, reply);
  }

  private tokenIn(reply: Reply): string {
    const token = asString(reply.body['token']);
    this.ledgers.sessions.answered(token, 'ok');
    return token;
  }

  private get owner(): Person {
    if (!this.me) throw new Error('the writer is not prepared');
    return this.me;
  }

  private fresh(what: string): string {
    this.count += 1;
    return `${what}.${this.name}.${this.count}`;
  }
}

/** A 5xx leaves open whether the write was done. */
function outcomeOf({ status }: Reply): Outcome {
  if (status < 300) return 'ok';
  return status < 500 ? 'refused' : 'unknown';
}

function answerOf(what: string, reply: Reply): Answer {
  return { outcome: outcomeOf(reply), label: `${what} ${reply.status} ${reply.code ?? ''}`.trim() };
}
