import { type Answered, brokenInState, brokenWrites, type MembershipWrite } from './invariants.js';
import type { Answer, Outcome } from '../../support/load.js';
import type { Random } from './random.js';
import type { Role } from './reference-model.js';
import { PASSWORD, type Storage } from './deployment.js';
import { timed } from './timed-request.js';
import { type LedgerReport, WriteLedger } from './write-ledger.js';
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

export interface Findings extends Omit<LedgerReport, 'ghosts'> {
  /** Half-done writes, and rows that no client wrote. */
  broken: string[];
}

/** Compares what clients were told with the service's answers and its data. */
export async function compare(storage: Storage, send: Send, ledgers: Ledgers): Promise<Findings> {
  const findings = await compareRows(storage, [ledgers]);
  await checkSessions(send, ledgers, findings);
  await checkUsers(send, ledgers, findings);
  await checkCodes(send, ledgers, findings);
  return findings;
}

/** The repeatable part: it only reads. */
export async function compareRows(storage: Storage, rounds: readonly Ledgers[]): Promise<Findings> {
  const findings: Findings = { acknowledged: 0, lost: [], broken: [], unknownApplied: 0, unknownAbsent: 0 };
  const snapshot = await storage.snapshot();
  findings.broken.push(...brokenInState(snapshot), ...(await storage.faults()));
  const codes = await storage.query(
    `SELECT c.hash FROM authorization_codes c LEFT JOIN sessions s ON s.id = c.session_id WHERE s.id IS NULL`,
  );
  findings.broken.push(...codes.map((row) => `a code of no session: ${JSON.stringify(row)}`));
  const orgs = new Set((await storage.query('SELECT name FROM orgs')).map((row) => String(row['name'])));
  const users = new Set(snapshot.users.map((user) => user.email));
  for (const ledgers of rounds) {
    // Of each organization one writer alone changes the members, so that the order of writes is known.
    findings.broken.push(...brokenWrites(ledgers.members, snapshot));
    findings.acknowledged += ledgers.members.filter(({ status }) => (status ?? 500) < 300).length;
    count(findings, 'organization', ledgers.orgs.compare(orgs));
    count(findings, 'user', ledgers.users.compare(users));
  }
  return findings;
}

function count(findings: Findings, what: string, report: LedgerReport): void {
  findings.acknowledged += report.acknowledged;
  findings.lost.push(...report.lost.map((key) => `${what} ${key}`));
  findings.broken.push(...report.ghosts.map((key) => `${what} ${key} was refused and is there`));
  findings.unknownApplied += report.unknownApplied;
  findings.unknownAbsent += report.unknownAbsent;
}

async function checkSessions(send: Send, ledgers: Ledgers, findings: Findings): Promise<void> {
  const tokens = ledgers.sessions.keys('ok');
  findings.acknowledged += tokens.length;
  for (const token of tokens) {
    const { status } = await send('GET', '/api/me', { token });
    if (status !== 200) findings.lost.push(`the session of a token: ${status}`);
  }
}

/** A user whose registration was acknowledged can log in; another can either log in or register again. */
async function checkUsers(send: Send, ledgers: Ledgers, findings: Findings): Promise<void> {
  for (const email of [...ledgers.users.keys('ok'), ...ledgers.users.keys('unknown')]) {
    const body = { email, password: PASSWORD };
    const login = await send('POST', '/api/auth/login', { body });
    if (login.status === 200) continue;
    const isKnown = ledgers.users.keys('ok').includes(email);
    const again = await send('POST', '/api/auth/register', { body });
    if (isKnown || login.status !== 401 || again.status !== 201)
      findings.broken.push(`${email}: login ${login.status}, register ${again.status}`);
  }
}

/** A code that was not sent back works; one that was exchanged does not work again; an open one does one of both. */
async function checkCodes(send: Send, ledgers: Ledgers, findings: Findings): Promise<void> {
  const exchange = async (code: string): Promise<number> =>
    (await send('POST', '/api/auth/code/exchange', { body: { code } })).status;
  findings.acknowledged += ledgers.unused.size + ledgers.exchanges.keys('ok').length;
  for (const code of ledgers.unused) {
    const status = await exchange(code);
    if (status !== 200) findings.lost.push(`a code that was issued: ${status}`);
  }
  for (const code of ledgers.exchanges.keys('ok')) {
    const status = await exchange(code);
    if (status !== 400) findings.lost.push(`the use of a code: ${status}`);
  }
  for (const code of ledgers.exchanges.keys('unknown')) {
    const status = await exchange(code);
    if (status === 200) findings.unknownAbsent += 1;
    else if (status === 400) findings.unknownApplied += 1;
    else findings.broken.push(`a code whose use is unknown: ${status}`);
  }
}
