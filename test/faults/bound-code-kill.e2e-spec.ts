import { afterEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { aPassword, anEmail } from '../support/personas.js';
import { asString, clientOf, type Reply, type Send } from '../support/service-client.js';
import { aServiceClient, type ServiceClient } from '../support/services.js';
import { report } from './support/figures.js';
import { killDuring } from './support/kill-during.js';
import { Random, seedOfRun } from './support/random.js';
import { RestartableService, UNLIMITED } from './support/restartable-service.js';
import { ENGINES, Storage } from './support/storage.js';

const KILLS = 8;
const WORKERS = 6;

/** A user whose codes for one service the service exchanges; it is told of each whether it was, and what it opened. */
class Exchanger {
  readonly opened: { code: string; token: string }[] = [];
  /** issued, and not exchanged */
  unused: string[] = [];
  /** sent for exchange, and not answered */
  unanswered: string[] = [];
  private token = '';

  constructor(
    private readonly send: Send,
    private readonly service: ServiceClient,
    private readonly wrong: ServiceClient,
  ) {}

  async prepare(): Promise<void> {
    const body = { email: anEmail('user'), password: aPassword() };
    const { body: login } = await this.send('POST', '/api/auth/register', { body });
    this.token = asString(login['token']);
    await this.step();
  }

  async step(): Promise<void> {
    const code = asString((await this.issue()).body['code']);
    this.unused = [code];
    requireStatus(await this.exchange(code, this.wrong), 400);
    [this.unused, this.unanswered] = [[], [code]];
    this.keep(code, await this.exchange(code));
    this.unanswered = [];
  }

  exchange(code: string, by = this.service): Promise<Reply> {
    const headers = { authorization: by.authorization };
    return this.send('POST', '/api/auth/code/exchange', { headers, body: { code } });
  }

  keep(code: string, reply: Reply): void {
    requireStatus(reply, 200);
    this.opened.push({ code, token: asString(reply.body['token']) });
  }

  private async issue(): Promise<Reply> {
    const reply = await this.send('POST', '/api/auth/code', {
      token: this.token,
      body: { audience: this.service.name },
    });
    requireStatus(reply, 201);
    return reply;
  }
}

function requireStatus({ status }: Reply, expected: number): void {
  if (status !== expected) throw new Error(`answered ${status}, not ${expected}`);
}

describe.each(ENGINES)('kill -9 during exchanges of codes for one service on %s', (engine) => {
  let storage: Storage;
  let service: RestartableService;

  afterEach(async () => {
    await service.kill();
    await storage.close();
  });

  it('leaves of each code one session or a code that is good', { timeout: 180_000 }, async () => {
    const random = new Random(seedOfRun(`kill -9 of bound codes on ${engine}`));
    storage = await Storage.on(engine);
    service = await RestartableService.on(storage, UNLIMITED);
    const send = clientOf(service.url);
    await service.start();
    const [right, wrong] = await Promise.all([1, 2].map(() => aServiceClient(storage.installation.db)));
    let acknowledged = 0;
    let unknown = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const clients = times(WORKERS, () => new Exchanger(send, right!, wrong!));
      for (const client of clients) await client.prepare();
      await killDuring(
        service,
        clients.map((client) => () => client.step()),
        random.between(50, 400),
      );
      for (const client of clients) {
        acknowledged += client.opened.length;
        unknown += client.unanswered.length;
        await check(client);
      }
    }
    const snapshot = await storage.snapshot();
    const hashes = snapshot.sessions.flatMap(({ codeHash }) => codeHash ?? []);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(
      await storage.query('SELECT id FROM sessions WHERE code_hash IS NOT NULL AND bound_epoch IS NULL'),
    ).toEqual([]);
    expect(acknowledged).toBeGreaterThan(KILLS * WORKERS);
    expect(unknown).toBeGreaterThan(0);
    report({ faults: KILLS, requests: 2 * acknowledged + unknown, wrong: 0, acknowledged, lost: 0 });

    async function check(client: Exchanger): Promise<void> {
      const sessions = async (): Promise<number> => (await storage.query('SELECT id FROM sessions')).length;
      for (const code of client.unanswered) {
        const before = await sessions();
        expect((await client.exchange(code, wrong)).status).toBe(400);
        const reply = await client.exchange(code);
        // It was good, or has opened the one session that the second exchange ends.
        expect([200, 400]).toContain(reply.status);
        expect((await sessions()) - before).toBe(reply.status === 200 ? 1 : 0);
        if (reply.status === 200) client.keep(code, reply);
      }
      for (const code of client.unused) client.keep(code, await client.exchange(code));
      const answers = await Promise.all(client.opened.map(({ token }) => send('GET', '/api/me', { token })));
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    }
  });
});
