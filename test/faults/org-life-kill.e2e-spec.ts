import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { addCrowd } from '../support/rows.js';
import { aPassword, anEmail } from '../support/personas.js';
import { asRecord, asString, clientOf, type Send } from '../support/service-client.js';
import { report } from './support/figures.js';
import { brokenInState } from './support/invariants.js';
import { Random, seedOfRun } from './support/random.js';
import { ENGINES, RestartableService, Storage, UNLIMITED } from './support/deployment.js';

const KILLS = 8;
const WORKERS = 3;
const PURGE_KILLS = 6;
const CROWD = 20_000;
const PURGE = resolve(import.meta.dirname, 'support/purge-orgs.ts');

interface Person {
  id: string;
  token: string;
  email: string;
}

/** One organization: what its rows are by the last answer, and by what was asked and not answered. */
class Life {
  orgId = '';
  acknowledged = 0;
  state = 'there, First, 0 owns';
  next: string | undefined;
  private owners: Person[] = [];

  constructor(private readonly send: Send) {}

  async prepare(): Promise<void> {
    this.owners = [await this.register(), await this.register()];
    const { email } = this.owners[1]!;
    const { body } = await this.ask(0, 'POST', '', { name: 'First' }, 201);
    this.orgId = asString(asRecord(body['org'])['id']);
    await this.ask(0, 'POST', `/${this.orgId}/members`, { email, role: 'admin' }, 201);
  }

  /** Until one step gets no answer. */
  async run(life: AbortSignal): Promise<void> {
    try {
      for (let round = 0; !life.aborted; round += 1) {
        const owner = round % 2;
        await this.step(`there, Name ${round}, ${owner} owns`, owner, 'PATCH', '', { name: `Name ${round}` });
        await this.step(`deleted, Name ${round}, ${owner} owns`, owner, 'DELETE', '');
        await this.step(`there, Name ${round}, ${owner} owns`, owner, 'POST', '/restore');
        const userId = this.owners[1 - owner]!.id;
        await this.step(`there, Name ${round}, ${1 - owner} owns`, owner, 'POST', '/transfer', { userId });
      }
    } catch (error) {
      // What the dying process was asked has no answer; anything else is a wrong one.
      if (!life.aborted) throw error;
    }
  }

  async found(storage: Storage): Promise<string> {
    const { db } = storage.installation;
    const [org] = await db.query('SELECT name, deleted_at FROM orgs WHERE id = ?', [this.orgId]);
    const members = await db.query('SELECT user_id, role FROM members WHERE org_id = ?', [this.orgId]);
    const owners = members.filter(({ role }) => role === 'owner').map(({ user_id }) => user_id);
    const places = owners.map((id) => this.owners.findIndex((owner) => owner.id === id));
    return `${org!['deleted_at'] === null ? 'there' : 'deleted'}, ${String(org!['name'])}, ${places.join('+')} owns`;
  }

  private async step(
    state: string,
    owner: number,
    method: string,
    suffix: string,
    body?: object,
  ): Promise<void> {
    this.next = state;
    await this.ask(owner, method, `/${this.orgId}${suffix}`, body, 200);
    this.state = state;
    this.next = undefined;
    this.acknowledged += 1;
  }

  private async ask(owner: number, method: string, path: string, body: object | undefined, wanted: number) {
    const { token } = this.owners[owner]!;
    const reply = await this.send(method, `/api/orgs${path}`, { token, ...(body && { body }) });
    if (reply.status !== wanted) throw new Error(`${method} ${path}: ${reply.status} ${reply.code}`);
    return reply;
  }

  private async register(): Promise<Person> {
    const email = anEmail();
    const { body } = await this.send('POST', '/api/auth/register', {
      body: { email, password: aPassword() },
    });
    return { id: asString(asRecord(body['user'])['id']), token: asString(body['token']), email };
  }
}

describe.each(ENGINES)('kill -9 on %s', (engine) => {
  let storage: Storage;
  let service: RestartableService;

  afterEach(async () => {
    await service.kill();
    await storage.close();
  });

  it('leaves renaming, deletion, restoring and transfer whole or absent', { timeout: 180_000 }, async () => {
    const random = new Random(seedOfRun(`kill -9 of organizations on ${engine}`));
    storage = await Storage.on(engine);
    service = await RestartableService.on(storage, UNLIMITED);
    await service.start();
    let acknowledged = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const lives = times(WORKERS, () => new Life(clientOf(service.url)));
      for (const life of lives) await life.prepare();
      const running = new AbortController();
      const work = lives.map((life) => life.run(running.signal));
      await sleep(random.between(50, 400));
      running.abort();
      await service.kill();
      await Promise.all(work);
      await service.start();

      for (const life of lives) {
        expect([life.state, life.next]).toContain(await life.found(storage));
        acknowledged += life.acknowledged;
      }
      expect(brokenInState(await storage.snapshot())).toEqual([]);
    }
    expect(acknowledged).toBeGreaterThan(KILLS * WORKERS);
    report({ faults: KILLS, requests: acknowledged, wrong: 0, acknowledged, lost: 0 });
  });

  it('of a purge leaves what the next one completes, once', { timeout: 180_000 }, async () => {
    const random = new Random(seedOfRun(`kill -9 of a purge on ${engine}`));
    storage = await Storage.on(engine);
    service = await RestartableService.on(storage, UNLIMITED);
    await service.start();
    const life = new Life(clientOf(service.url));
    await life.prepare();
    await service.kill();
    const { db } = storage.installation;
    await addCrowd(db, { id: life.orgId, name: '' }, CROWD);
    await db.query('UPDATE orgs SET deleted_at = 1, purge_at = 2 WHERE id = ?', [life.orgId]);

    const lefts: number[] = [];
    for (let kill = 0; kill < PURGE_KILLS; kill += 1) {
      await purge(random.between(1, 10));
      const [row] = await db.query('SELECT COUNT(*) AS members FROM members');
      lefts.push(Number(row!['members']));
    }
    expect(await purge()).toBe(0);

    expect(await db.query('SELECT id FROM orgs')).toEqual([]);
    expect(await db.query('SELECT user_id FROM members')).toEqual([]);
    expect(await db.query("SELECT actor_type FROM events WHERE type = 'org.purged'")).toEqual([
      { actor_type: 'system' },
    ]);
    // Kills that all came before or after it would prove nothing.
    expect(lefts.some((left) => left > 0 && left < CROWD)).toBe(true);
    report({ faults: PURGE_KILLS, wrong: 0 });
  });

  /**
   * @param killAfter batches, while the next is under way; undefined: it runs to its end
   * @returns its exit code
   */
  async function purge(killAfter?: number): Promise<number | null> {
    const { directory, env } = storage.installation;
    const child = spawn(process.execPath, [PURGE], {
      cwd: directory,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    let batches = 0;
    child.stdout.on('data', (written: Buffer) => {
      batches += written.length;
      if (killAfter !== undefined && batches >= killAfter) child.kill('SIGKILL');
    });
    const [code] = (await ended) as [number | null];
    return code;
  }
});
