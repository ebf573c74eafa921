import { expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { addLongHistory } from '../support/rows.js';
import { PausedReader } from '../support/connections.js';
import { anAccount } from '../support/personas.js';
import { closeAfterAll, startInstance, Storage } from './support/deployment.js';
import { report } from './support/figures.js';

const EXPORT = '/api/me/export';
/** enough readers to hold every connection that an export could keep */
const CONNECTIONS = 4;
const ENV = { RATE_LIMIT_EXPORT: 'off', DATABASE_POOL_SIZE: String(CONNECTIONS) };

const { installation, server } = await closeAfterAll(Storage.on('mariadb'));
let instance = await startInstance(installation, ENV);
await closeAfterAll({ close: () => instance.stop() });
let reader = await anAccount(instance, 'reader');
const oldest = await addLongHistory(installation, reader.id);

const halfReadExports = (): Promise<PausedReader[]> =>
  Promise.all(times(CONNECTIONS, () => PausedReader.get(instance, EXPORT, reader)));

async function expectWholeAgain(): Promise<void> {
  await waitFor('the service answers', hangTimeoutMs(), async () => {
    return (await reader.get('/api/me')).status === 200;
  });
  const { status, text } = await reader.get(EXPORT);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ account: { id: reader.id } });
  expect(text.includes(oldest), 'reaches the oldest event').toBe(true);
}

it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
  ['the database is gone', () => server.kill(), () => server.restart()],
  [
    'the instance is killed',
    () => instance.kill(),
    async () => {
      instance = await startInstance(installation, ENV);
      reader = reader.at(instance);
    },
  ],
])('an export during which %s is cut off, and looks so', async (_what, cut, mend) => {
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
  await expectWholeAgain();
  report({ faults: 1, requests: CONNECTIONS + 1, wrong: 0 });
});

it('an export whose client leaves keeps no connection of the database', async () => {
  for (let round = 0; round < 2; round += 1) {
    for (const stream of await halfReadExports()) stream.leave();
  }
  await expectWholeAgain();
  report({ faults: 2 * CONNECTIONS, requests: 2 * CONNECTIONS + 1, wrong: 0 });
});
