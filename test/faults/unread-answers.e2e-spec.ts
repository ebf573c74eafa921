import { expect, it } from 'vitest';
import { hangTimeoutMs, within } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { anInstallation } from '../support/installation.js';
import { addOrgs } from '../support/many-orgs.js';
import { keptAliveRequest, openConnection } from '../support/open-connection.js';
import { type Account, anAccount } from '../support/personas.js';
import { report } from './support/figures.js';
import { startInstance } from './support/instance.js';

const ORGS = 5000;
/** 90 characters of four bytes each */
const NAME = '\u{1F600}'.repeat(90);
const CONNECTIONS = 30;
const SENT_AHEAD = 20;
/** of the heap, as Node chooses it in 512 MiB */
const ENV = { NODE_OPTIONS: '--max-old-space-size=256', RATE_LIMIT_REGISTER: 'off' };
const CUT = 'read nothing of its answer';

it('serves others while clients send requests for long answers ahead and read none', async () => {
  const installation = await anInstallation({ engine: 'sqlite' });
  const service = await startInstance(installation, ENV);
  const [greedy, other] = await Promise.all([anAccount(service), anAccount(service)]);
  await addOrgs(installation.db, greedy, ORGS, () => NAME);

  const connections = await Promise.all(times(CONNECTIONS, () => unread(service.url, greedy)));
  const statuses: number[] = [];
  let peakMiB = 0;
  const served = async (): Promise<void> => {
    do {
      statuses.push((await other.get('/api/me')).status);
      peakMiB = Math.max(peakMiB, service.memoryMiB());
    } while (
      statuses.at(-1) === 200 &&
      service.logs.filter((line) => line.includes(CUT)).length < CONNECTIONS
    );
  };
  await within('the service cuts all of them off', hangTimeoutMs(), served());
  for (const close of connections) close();

  console.info(`${statuses.length} requests of others, at most ${Math.round(peakMiB)} MiB`);
  const wrong = statuses.filter((status) => status !== 200);
  report({ faults: CONNECTIONS, requests: statuses.length, wrong: wrong.length });
  expect(wrong).toEqual([]);
  await service.stop();
  await installation.remove();
});

/** @returns what ends the connection */
async function unread(url: string, { token }: Account): Promise<() => void> {
  const { socket } = await openConnection(url);
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(keptAliveRequest('GET /api/me', [`Authorization: Bearer ${token}`]).repeat(SENT_AHEAD));
  return () => socket.destroy();
}
