import { afterAll, beforeAll, expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { addLongHistory } from '../support/long-history.js';
import { PausedReader } from '../support/paused-reader.js';
import { type Account, anAccount } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { startInstance } from './support/instance.js';

const EXPORT = '/api/me/export';
/** enough readers to hold every connection that an export could keep */
const CONNECTIONS = 4;
const ENV = { RATE_LIMIT_EXPORT: 'off', DATABASE_POOL_SIZE: String(CONNECTIONS) };

let database: MariaDbServer;
let installation: Installation;
let instance: Instance;
let reader: Account;
let oldest: string;

beforeAll(async () => {
  database = await MariaDbServer.start();
  installation = await anInstallation({ mariadbPort: database.port });
  instance = await startInstance(installation, ENV);
  reader = await anAccount(instance, 'reader');
  oldest = await addLongHistory(installation, reader.id);
});
afterAll(async () => {
  await instance.stop();
  await installation.remove();
  await database.close();
});

const CUTS: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
  ['the database is gone', () => database.kill(), () => database.restart()],
  ['the instance is killed', () => instance.kill(), startAgain],
];

async function startAgain(): Promise<void> {
  instance = await startInstance(installation, ENV);
  reader = reader.at(instance);
}

const halfReadExports = (): Promise<PausedReader[]> =>
  Promise.all(times(CONNECTIONS, () => PausedReader.get(instance, EXPORT, reader)));

/** Whether it reaches the oldest event. */
async function isWholeAgain(): Promise<boolean> {
  await waitFor('the service answers', hangTimeoutMs(), async () => {
    const { status } = await reader.get('/api/me').catch(() => ({ status: 0 }));
    return status === 200;
  });
  const { status, text } = await reader.get(EXPORT);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ account: { id: reader.id } });
  return text.includes(oldest);
}

it.each(CUTS)('an export during which %s is cut off, and looks so', async (_what, cut, mend) => {
  const streams = await halfReadExports();
  await cut();

  for (const { text, whole } of await Promise.all(streams.map((stream) => stream.readOn()))) {
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect({ whole, reachesTheOldest: text.includes(oldest) }).toEqual({
      whole: false,
      reachesTheOldest: false,
    });
  }

  await mend();
  expect(await isWholeAgain()).toBe(true);
  report({ faults: 1, requests: CONNECTIONS + 1, wrong: 0 });
});

it('an export whose client leaves keeps no connection of the database', async () => {
  for (let round = 0; round < 2; round += 1) {
    for (const stream of await halfReadExports()) stream.leave();
  }
  expect(await isWholeAgain()).toBe(true);
  report({ faults: 2 * CONNECTIONS, requests: 2 * CONNECTIONS + 1, wrong: 0 });
});
