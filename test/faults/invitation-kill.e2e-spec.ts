import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { anEmail } from '../support/personas.js';
import { asRecord, asString, clientOf, type Reply, type Send } from '../support/service-client.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';
import { ENGINES, RestartableService, Storage, UNLIMITED } from './support/deployment.js';

const KILLS = 8;
const WORKERS = 6;
const PASSWORD = 'correct horse battery staple';

/** What an inviter was told of one invitation, the last thing first. */
interface Told {
  id: string;
  email: string;
  status: 'pending' | 'revoked' | 'accepted';
  code: string;
  /** what was asked for, and not answered */
  open?: 'resend' | 'revoke' | 'register' | 'accept';
}

/** Invites, resends, revokes, and registers as those who are invited, one after the other. */
class Inviter {
  readonly told: Told[] = [];
  acknowledged = 0;
  orgId = '';
  private token = '';

  constructor(
    private readonly send: Send,
    private readonly random: Random,
  ) {}

  async prepare(): Promise<void> {
    const body = { email: anEmail('inviter'), password: PASSWORD };
    this.token = asString((await this.send('POST', '/api/auth/register', { body })).body['token']);
    const org = await this.send('POST', '/api/orgs', { token: this.token, body: { name: 'Killed' } });
    this.orgId = asString(asRecord(org.body['org'])['id']);
  }

  async step(): Promise<void> {
    const pending = this.told.filter(({ status }) => status === 'pending');
    const one = pending.length > 0 && this.random.between(0, 2) > 0 ? this.random.pick(pending) : undefined;
    if (!one) return this.create();
    const deed = this.random.pick(['resend', 'revoke', 'register', 'accept'] as const);
    one.open = deed;
    await this[deed](one);
    delete one.open;
    this.acknowledged += 1;
  }

  private async create(): Promise<void> {
    const email = anEmail('guest');
    const body = { email, role: 'member', showCode: true };
    const invitation = invitationIn(await this.send('POST', this.path(), { token: this.token, body }), 201);
    this.told.push({ ...invitation, email, status: 'pending' });
    this.acknowledged += 1;
  }

  private async resend(one: Told): Promise<void> {
    const { token } = this;
    const reply = await this.send('POST', this.path(`/${one.id}/resend`), {
      token,
      body: { showCode: true },
    });
    one.code = invitationIn(reply, 200).code;
  }

  private async revoke(one: Told): Promise<void> {
    requireStatus(await this.send('DELETE', this.path(`/${one.id}`), { token: this.token }), 200);
    one.status = 'revoked';
  }

  private async register(one: Told): Promise<void> {
    const body = { email: one.email, password: PASSWORD, invitationCode: one.code };
    requireStatus(await this.send('POST', '/api/auth/register', { body }), 201);
    one.status = 'accepted';
  }

  private async accept(one: Told): Promise<void> {
    const body = { email: one.email, password: PASSWORD };
    const { status, body: session } = await this.send('POST', '/api/auth/register', { body });
    if (status !== 201) throw new Error(`registering answered ${status}`);
    const answer = await this.send('POST', `/api/me/invitations/${one.id}/accept`, {
      token: asString(session['token']),
      body: { code: one.code },
    });
    requireStatus(answer, 200);
    one.status = 'accepted';
  }

  private path(rest = ''): string {
    return `/api/orgs/${this.orgId}/invitations${rest}`;
  }
}

function invitationIn(reply: Reply, expected: number): { id: string; code: string } {
  requireStatus(reply, expected);
  const invitation = asRecord(reply.body['invitation']);
  return { id: asString(invitation['id']), code: asString(invitation['code']) };
}

function requireStatus({ status }: Reply, expected: number): void {
  if (status !== expected) throw new Error(`answered ${status}, not ${expected}`);
}

describe.each(ENGINES)('kill -9 during invitations on %s', (engine) => {
  let storage: Storage;
  let service: RestartableService;

  afterEach(async () => {
    await service.kill();
    await storage.close();
  });

  it('keeps what was told, and leaves nothing half done', { timeout: 180_000 }, async () => {
    const seed = seedOfRun(`kill -9 of invitations on ${engine}`);
    const random = new Random(seed);
    storage = await Storage.on(engine);
    service = await RestartableService.on(storage, UNLIMITED);
    const send = clientOf(service.url);
    await service.start();
    let acknowledged = 0;
    let unknown = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const inviters = Array.from(
        { length: WORKERS },
        (_, index) => new Inviter(send, new Random(seed + kill * WORKERS + index)),
      );
      for (const inviter of inviters) await inviter.prepare();
      const life = new AbortController();
      const work = inviters.map(async (inviter) => {
        try {
          while (!life.signal.aborted) await inviter.step();
        } catch (error) {
          // What the dying process was asked has no answer; anything else is a wrong one.
          if (!life.signal.aborted) throw error;
        }
      });
      await sleep(random.between(100, 900));
      life.abort();
      await service.kill();
      await Promise.all(work);
      await service.start();

      for (const inviter of inviters) {
        acknowledged += inviter.acknowledged;
        for (const told of inviter.told) {
          if (told.open) unknown += 1;
          await check(told);
        }
      }
      await checkHalves();
    }
    expect(acknowledged).toBeGreaterThan(KILLS * WORKERS);
    report({ faults: KILLS, requests: acknowledged + unknown, wrong: 0, acknowledged, lost: 0 });

    async function check({ id, email, status, open }: Told): Promise<void> {
      const [row] = await storage.installation.db.query('SELECT status FROM invitations WHERE id = ?', [id]);
      const ends = { resend: status, revoke: 'revoked', register: 'accepted', accept: 'accepted' };
      const possible = [status, ...(open ? [ends[open]] : [])];
      expect(possible, `${email}: ${open ?? 'settled'}`).toContain(row?.['status']);
      if (open === 'accept') return;
      const users = await storage.installation.db.query('SELECT id FROM users WHERE email = ?', [email]);
      expect(users, `${email}: the account comes with the membership`).toHaveLength(
        row?.['status'] === 'accepted' ? 1 : 0,
      );
    }

    /** An accepted one has its account, member and events; any other has none of them. */
    async function checkHalves(): Promise<void> {
      const halves = await storage.query(`SELECT i.id FROM invitations i WHERE
        (i.status = 'accepted') <> EXISTS (SELECT 1 FROM members m WHERE m.org_id = i.org_id AND m.email = i.email)
        OR (i.status = 'accepted' AND NOT EXISTS (SELECT 1 FROM users u WHERE u.email = i.email))
        OR (i.status = 'pending') <> (i.pending IS NOT NULL)
        OR (SELECT COUNT(*) FROM events e WHERE e.org_id = i.org_id AND e.type IN ('invitation.created', 'invitation.resent')
              AND e.data LIKE CONCAT('%', i.id, '%')) <> i.code_number
        OR (SELECT COUNT(*) FROM events e WHERE e.org_id = i.org_id AND e.type LIKE 'invitation.%ed'
              AND e.type NOT IN ('invitation.created', 'invitation.resent')
              AND e.data LIKE CONCAT('%', i.id, '%')) <> CASE WHEN i.status = 'pending' THEN 0 ELSE 1 END`);
      expect(halves).toEqual([]);
    }
  });
});
