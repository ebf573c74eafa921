import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { migrateUntil } from '../support/data-source.js';
import { enrol } from '../support/enrolment.js';
import { type Account, anAccount } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { startInstances, stopAll } from './support/instance.js';
import { UNLIMITED } from './support/restartable-service.js';
import { Storage } from './support/storage.js';

const LOGINS = 40;
const PAUSE_MS = 5;
const DAY_MS = 86_400_000;

let storage: Storage;
let instances: Instance[];

beforeEach(async () => {
  storage = await Storage.on('mariadb');
  await migrateUntil(storage.installation, 'SecondFactor');
});
afterEach(async () => {
  await stopAll(instances);
  await storage.close();
});

/** Registers and logs in as an instance of the version before does, which knows no second factor. */
class OlderInstance {
  logins = 0;
  private readonly ended = new AbortController();
  private working: Promise<void> | undefined;
  private readonly own = randomUUIDv7();
  user: string | undefined;

  begin(): void {
    this.working = this.work();
  }

  /** @throws where one of its statements failed */
  async end(): Promise<void> {
    this.ended.abort();
    await this.working;
  }

  private async work(): Promise<void> {
    await this.register();
    while (!this.ended.signal.aborted) {
      await this.logIn();
      await sleep(PAUSE_MS);
    }
  }

  private async register(): Promise<void> {
    await storage.installation.db.query(
      "INSERT INTO users (id, email, password_hash, created_at) VALUES (?, 'older@example.com', 'a hash', 1)",
      [this.own],
    );
  }

  private async logIn(): Promise<void> {
    const user = this.user ?? this.own;
    const now = Date.now();
    const { db } = storage.installation;
    const [found] = await db.query('SELECT auth_epoch AS epoch FROM users WHERE id = ?', [user]);
    await db.query(
      `INSERT INTO sessions (id, user_id, auth_time, auth_epoch, created_at, expires_at, ip, amr)
        VALUES (?, ?, ?, ?, ?, ?, '198.51.100.7', 'pwd')`,
      [randomUUIDv7(), user, now, Number(found!['epoch']), now, now + DAY_MS],
    );
    this.logins += 1;
  }
}

async function sessionsOf(account: Account): Promise<number> {
  const { body } = await account.get<{ sessions: object[] }>('/api/me/sessions');
  return body.sessions.length;
}

it('an instance that knows no second factor logs in while the schema gets it, and nobody who has one', async () => {
  const older = new OlderInstance();
  older.begin();
  await waitFor('it logs in', hangTimeoutMs(), () => older.logins >= LOGINS);
  instances = await startInstances(storage.installation, [UNLIMITED, UNLIMITED]);
  const [here, there] = instances as [Instance, Instance];
  const ada = await anAccount(here, 'ada');
  older.user = ada.id;
  const atStart = older.logins;
  await waitFor('it logs Ada in', hangTimeoutMs(), async () => (await sessionsOf(ada.at(there))) > LOGINS);

  await enrol(ada);
  const enrolled = older.logins;
  for (const instance of instances) expect(await sessionsOf(ada.at(instance))).toBe(1);
  await waitFor('it logs her in again', hangTimeoutMs(), () => older.logins > enrolled + LOGINS);
  await older.end();
  for (const instance of instances) expect(await sessionsOf(ada.at(instance))).toBe(1);
  expect(atStart).toBeGreaterThan(LOGINS);
  report({ faults: 1, requests: older.logins, wrong: 0, acknowledged: older.logins, lost: 0 });
});
