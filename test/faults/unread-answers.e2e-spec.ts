import { expect, it } from 'vitest';
import { hangTimeoutMs, within } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { addOrgs } from '../support/rows.js';
import { keptAliveRequest, openConnection } from '../support/connections.js';
import { type Account, anAccount } from '../support/personas.js';
import { closeAfterTest, startInstance, Storage, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';

const ORGS = 5000;
/** 90 characters of four bytes each */
const NAME = '\u{1F600}'.repeat(90);
const CONNECTIONS = 30;
const SENT_AHEAD = 20;
/** of the heap, as Node chooses it in 512 MiB */
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };

it('serves others while clients send requests for long answers ahead and read none', async () => {
  const { installation } = await closeAfterTest(Storage.on('sqlite'));
  const service = await closeAfterTest(startInstance(installation, { ...UNLIMITED, ...SMALL_HEAP }));
  const [greedy, other] = await Promise.all([anAccount(service), anAccount(service)]);
  await addOrgs(installation.db, greedy, ORGS, () => NAME);

  const connections = await Promise.all(times(CONNECTIONS, () => unread(service.url, greedy)));
  const cut = () => service.logs.filter((line) => line.includes('read nothing of its answer')).length;
  const statuses: number[] = [];
  let peakMiB = 0;
  const served = async (): Promise<void> => {
    do {
      statuses.push((await other.get('/api/me')).status);
      peakMiB = Math.max(peakMiB, service.memoryMiB());
    } while (statuses.at(-1) === 200 && cut() < CONNECTIONS);
  };
  await within('the service cuts all of them off', hangTimeoutMs(), served());
  for (const close of connections) close();

  console.info(`${statuses.length} requests of others, at most ${Math.round(peakMiB)} MiB`);
  const wrong = statuses.filter((status) => status !== 200);
  report({ faults: CONNECTIONS, requests: statuses.length, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

/** @returns what ends the connection */
async function unread(url: string, { token }: Account): Promise<() => void> {
  const { socket } = await openConnection(url);
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(keptAliveRequest('GET /api/me', [`Authorization: Bearer ${token}`]).repeat(SENT_AHEAD));
  return () => socket.destroy();
}
