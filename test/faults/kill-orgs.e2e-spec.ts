import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import type { Invitation } from '../support/inviting.js';
import { addCrowd } from '../support/rows.js';
import { anEmail, type Org } from '../support/personas.js';
import { asRecord, asString } from '../support/service-client.js';
import { countOf, ENGINES, PASSWORD, register } from './support/deployment.js';
import { report } from './support/figures.js';
import { brokenInState } from './support/invariants.js';
import { KILLS, startToKill } from './support/kill-rounds.js';

const PURGE = resolve(import.meta.dirname, 'support/purge-orgs.ts');

describe.each(ENGINES)('kill -9 on %s', { timeout: 180_000 }, (engine) => {
  it('leaves renaming, deletion, restoring and transfer whole or absent', async () => {
    const workers = 3;
    const { storage, send, ask, killDuring } = await startToKill(engine, 'organizations');
    /** One organization: what its rows are by the last answer, and by what was asked and not answered. */
    const aLife = async () => {
      const owners = [await register(send), await register(send)] as const;
      const [{ token }, { email }] = owners;
      const { org } = await ask<{ org: Org }>(201, 'POST', '/api/orgs', { name: 'First' }, token);
      await ask(201, 'POST', `/api/orgs/${org.id}/members`, { email, role: 'admin' }, token);
      return { owners, orgId: org.id, state: 'there, First, 0 owns', next: '', round: 0, done: 0 };
    };
    type Life = Awaited<ReturnType<typeof aLife>>;
    const goRound = async (life: Life): Promise<void> => {
      const owner = life.round % 2;
      const other = 1 - owner;
      const name = `Name ${life.round}`;
      const body = { userId: life.owners[other]!.id };
      const steps = [
        { state: `there, ${name}, ${owner} owns`, method: 'PATCH', suffix: '', body: { name } },
        { state: `deleted, ${name}, ${owner} owns`, method: 'DELETE', suffix: '' },
        { state: `there, ${name}, ${owner} owns`, method: 'POST', suffix: '/restore' },
        { state: `there, ${name}, ${other} owns`, method: 'POST', suffix: '/transfer', body },
      ];
      for (const step of steps) {
        life.next = step.state;
        const path = `/api/orgs/${life.orgId}${step.suffix}`;
        await ask(200, step.method, path, step.body, life.owners[owner]!.token);
        [life.state, life.next] = [step.state, ''];
        life.done += 1;
      }
      life.round += 1;
    };
    const found = async ({ orgId, owners }: Life): Promise<string> => {
      const [org] = await storage.query('SELECT name, deleted_at FROM orgs WHERE id = ?', [orgId]);
      const sql = "SELECT user_id FROM members WHERE org_id = ? AND role = 'owner'";
      const places = (await storage.query(sql, [orgId])).map(({ user_id: id }) =>
        owners.findIndex((owner) => owner.id === id),
      );
      return `${org!['deleted_at'] === null ? 'there' : 'deleted'}, ${org!['name']}, ${places.join('+')} owns`;
    };

    let acknowledged = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const lives: Life[] = [];
      while (lives.length < workers) lives.push(await aLife());
      const deeds = lives.map((life) => () => goRound(life));
      await killDuring(deeds, 50, 400);
      for (const life of lives) {
        expect([life.state, life.next]).toContain(await found(life));
        acknowledged += life.done;
      }
      expect(brokenInState(await storage.snapshot())).toEqual([]);
    }
    expect(acknowledged).toBeGreaterThan(KILLS * workers);
    report({ faults: KILLS, requests: acknowledged, wrong: 0, acknowledged, lost: 0 });
  });

  it('of a purge leaves what the next one completes, once', async () => {
    const [kills, crowd] = [6, 20_000];
    const { storage, service, send, ask, random } = await startToKill(engine, 'a purge');
    const { token } = await register(send);
    const { org } = await ask<{ org: Org }>(201, 'POST', '/api/orgs', { name: 'Purged' }, token);
    await service.kill();
    const { db, directory, env } = storage.installation;
    await addCrowd(db, org, crowd);
    await db.query('UPDATE orgs SET deleted_at = 1, purge_at = 2 WHERE id = ?', [org.id]);
    /** Killed after so many batches, while the next is under way, if not before its end. */
    const purge = async (batches = Infinity): Promise<unknown> => {
      const child = spawn(process.execPath, [PURGE], {
        cwd: directory,
        env: { PATH: process.env['PATH'], ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      let done = 0;
      child.stdout.on('data', (written: Buffer) => {
        done += written.length;
        if (done >= batches) child.kill('SIGKILL');
      });
      return (await ended)[0];
    };

    const lefts: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      await purge(random.between(1, 10));
      lefts.push(await countOf(db, 'members'));
    }
    expect(await purge()).toBe(0);

    expect(await db.query('SELECT id FROM orgs')).toEqual([]);
    expect(await db.query('SELECT user_id FROM members')).toEqual([]);
    const events = await db.query("SELECT actor_type FROM events WHERE type = 'org.purged'");
    expect(events).toEqual([{ actor_type: 'system' }]);
    // Kills that all came before or after it would prove nothing.
    expect(lefts.some((left) => left > 0 && left < crowd)).toBe(true);
    report({ faults: kills, wrong: 0 });
  });

  it('during invitations keeps what was told, and leaves nothing half done', async () => {
    const workers = 6;
    const { storage, send, ask, random, killDuring } = await startToKill(engine, 'invitations');
    type Answered = { invitation: Invitation & { code: string } };
    type Status = 'pending' | 'revoked' | 'accepted';
    /** The responses that an inviter received about one invitation, and the request without a response. */
    type Told = { id: string; code: string; email: string; status: Status; open?: keyof typeof deeds };
    const anInviter = async () => {
      const { token } = await register(send);
      const { org } = await ask<{ org: Org }>(201, 'POST', '/api/orgs', { name: 'Killed' }, token);
      return { token, path: `/api/orgs/${org.id}/invitations`, told: [] as Told[], done: 0 };
    };
    type Inviter = Awaited<ReturnType<typeof anInviter>>;
    const showCode = { showCode: true };
    const deeds = {
      resend: async ({ token, path }: Inviter, one: Told) => {
        const { invitation } = await ask<Answered>(200, 'POST', `${path}/${one.id}/resend`, showCode, token);
        one.code = invitation.code;
      },
      revoke: async ({ token, path }: Inviter, one: Told) => {
        await ask(200, 'DELETE', `${path}/${one.id}`, undefined, token);
        one.status = 'revoked';
      },
      register: async (_: Inviter, one: Told) => {
        const body = { email: one.email, password: PASSWORD, invitationCode: one.code };
        await ask(201, 'POST', '/api/auth/register', body);
        one.status = 'accepted';
      },
      accept: async (_: Inviter, one: Told) => {
        const { token } = await register(send, one.email);
        await ask(200, 'POST', `/api/me/invitations/${one.id}/accept`, { code: one.code }, token);
        one.status = 'accepted';
      },
    };
    const step = async (inviter: Inviter): Promise<void> => {
      const pending = inviter.told.filter(({ status }) => status === 'pending');
      if (pending.length > 0 && random.between(0, 2) > 0) {
        const one = random.pick(pending);
        const deed = random.pick(['resend', 'revoke', 'register', 'accept'] as const);
        one.open = deed;
        await deeds[deed](inviter, one);
        delete one.open;
      } else {
        const body = { email: anEmail('guest'), role: 'member', ...showCode };
        const { invitation } = await ask<Answered>(201, 'POST', inviter.path, body, inviter.token);
        inviter.told.push({ ...invitation, email: body.email, status: 'pending' });
      }
      inviter.done += 1;
    };
    const check = async ({ id, email, status, open }: Told): Promise<void> => {
      const [row] = await storage.query('SELECT status FROM invitations WHERE id = ?', [id]);
      const ends = { resend: status, revoke: 'revoked', register: 'accepted', accept: 'accepted' };
      const possible = [status, ...(open ? [ends[open]] : [])];
      expect(possible, `${email}: ${open ?? 'settled'}`).toContain(row?.['status']);
      if (open === 'accept') return;
      const users = await countOf(storage, 'users WHERE email = ?', [email]);
      const isAccepted = row?.['status'] === 'accepted';
      expect(users, `${email}: the account comes with the membership`).toBe(isAccepted ? 1 : 0);
    };
    /** An accepted one has its account, member and events; any other has none of them. */
    const halves = () =>
      storage.query(`SELECT i.id FROM invitations i WHERE
        (i.status = 'accepted') <> EXISTS (SELECT 1 FROM members m WHERE m.org_id = i.org_id AND m.email = i.email)
        OR (i.status = 'accepted' AND NOT EXISTS (SELECT 1 FROM users u WHERE u.email = i.email))
        OR (i.status = 'pending') <> (i.pending IS NOT NULL)
        OR (SELECT COUNT(*) FROM events e WHERE e.org_id = i.org_id AND e.type IN ('invitation.created', 'invitation.resent')
              AND e.data LIKE CONCAT('%', i.id, '%')) <> i.code_number
        OR (SELECT COUNT(*) FROM events e WHERE e.org_id = i.org_id AND e.type LIKE 'invitation.%ed'
              AND e.type NOT IN ('invitation.created', 'invitation.resent')
              AND e.data LIKE CONCAT('%', i.id, '%')) <> CASE WHEN i.status = 'pending' THEN 0 ELSE 1 END`);

    let acknowledged = 0;
    let unknown = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const inviters: Inviter[] = [];
      while (inviters.length < workers) inviters.push(await anInviter());
      const work = inviters.map((inviter) => () => step(inviter));
      await killDuring(work, 100, 900);
      for (const { told, done } of inviters) {
        acknowledged += done;
        unknown += told.filter(({ open }) => open).length;
        for (const one of told) await check(one);
      }
      expect(await halves()).toEqual([]);
    }
    expect(acknowledged).toBeGreaterThan(KILLS * workers);
    report({ faults: KILLS, requests: acknowledged + unknown, wrong: 0, acknowledged, lost: 0 });
  });

  it('during changes with keys leaves both the change and its key, or neither', async () => {
    const { storage, send, killDuring } = await startToKill(engine, 'changes with keys');
    const { token } = await register(send);
    const idIn = (org: unknown): string => asString(asRecord(org)['id']);
    const create = async (key: string, name: string): Promise<string> => {
      const headers = { 'idempotency-key': key };
      const { body } = await send('POST', '/api/orgs', { token, body: { name }, headers });
      return idIn(body['org']);
    };
    const sent: { key: string; name: string; answered?: string }[] = [];
    const deeds = times(4, () => async () => {
      const one: (typeof sent)[number] = { key: randomUUID(), name: randomUUID() };
      sent.push(one);
      one.answered = await create(one.key, one.name);
    });
    for (let kill = 0; kill < KILLS; kill += 1) await killDuring(deeds, 50, 500);

    const orgs = await storage.query('SELECT id, name FROM orgs');
    const keys = await storage.query('SELECT body FROM idempotency_keys');
    const kept = keys.map(({ body }) => idIn(asRecord(JSON.parse(String(body)))['org']));
    expect(kept.toSorted()).toEqual(orgs.map(({ id }) => String(id)).toSorted());

    const idOf = new Map(orgs.map(({ id, name }) => [String(name), String(id)]));
    let lost = 0;
    for (const { key, name, answered } of sent) {
      const before = idOf.get(name);
      const again = await create(key, name);
      if ((answered ?? before) !== before || again !== (before ?? again)) lost += 1;
    }
    const acknowledged = sent.filter(({ answered }) => answered !== undefined).length;
    report({ faults: KILLS, requests: 2 * sent.length, wrong: 0, acknowledged, lost });
    expect(lost).toBe(0);
    expect(acknowledged).toBeGreaterThan(KILLS);
    const names = (await storage.query('SELECT name FROM orgs')).map(({ name }) => name);
    expect(names).toHaveLength(sent.length);
    expect(new Set(names).size).toBe(names.length);
  });
});
