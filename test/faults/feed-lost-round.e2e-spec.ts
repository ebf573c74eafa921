import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { writeEvents } from '../support/feed.js';
import { anUnknownId } from '../support/personas.js';
import { asRecords, clientOf, type Reply } from '../support/service-client.js';
import { aServiceClient, type ServiceClient } from '../support/services.js';
import { feedFaults } from './support/feed-faults.js';
import { report } from './support/figures.js';
import { RestartableService, Storage, UNLIMITED } from './support/deployment.js';
import { StopAtStatement } from './support/stopped-process.js';

const ROUNDS = 5;
const EVENTS = 5;
const NUMBERING = 'INSERT INTO feed';

/** One instance, which can be stopped at a statement. */
interface Stoppable {
  service: RestartableService;
  stop: StopAtStatement;
}

let storage: Storage;
let winner: Stoppable;
let loser: Stoppable;
let billing: ServiceClient;

beforeAll(async () => {
  storage = await Storage.on('mariadb');
  winner = await start();
  loser = await start();
  billing = await aServiceClient(storage.installation.db, ['events']);
});
afterAll(async () => {
  for (const { service } of [winner, loser]) {
    process.kill(service.pid, 'SIGCONT');
    await service.kill();
  }
  await storage.close();
});

async function start(): Promise<Stoppable> {
  const stop = new StopAtStatement(temporaryDirectory('stop'));
  const service = await RestartableService.on(storage, { ...UNLIMITED, ...stop.env });
  await service.start(hangTimeoutMs());
  return { service, stop };
}

const freeze = ({ service }: Stoppable): unknown => process.kill(service.pid, 'SIGSTOP');
const resume = ({ service }: Stoppable): unknown => process.kill(service.pid, 'SIGCONT');

it('a round that loses its places to another numbers what the other has not seen, before its page is answered', async () => {
  const { db } = storage.installation;
  const orgId = anUnknownId();
  let revision = 0;
  const write = (size: number): Promise<string[]> =>
    writeEvents(
      db,
      times(size, () => ({ orgId, orgRevision: ++revision })),
    );
  const missing: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    freeze(loser);
    winner.stop.arm(NUMBERING);
    const [first] = await write(EVENTS);
    await winner.stop.stopped(winner.service.pid);
    // Committed after the winner has looked.
    const [late] = await write(1);
    loser.stop.arm(NUMBERING);
    resume(loser);
    const page = read(loser);
    await loser.stop.stopped(loser.service.pid);

    resume(winner);
    await waitFor('the winner has numbered', hangTimeoutMs(), async () => {
      return (await db.query('SELECT seq FROM feed WHERE event_id = ?', [first!])).length > 0;
    });
    // Or it would number what the loser lost.
    freeze(winner);
    resume(loser);
    let answer = await page;
    // It was frozen for longer than an answer may take.
    while (answer.status === 503) answer = await read(loser);
    const events = asRecords(answer.body['events']);
    if (!events.some(({ id }) => id === late)) missing.push(`${answer.status} without ${late}`);
    resume(winner);
  }
  const { body } = await read(loser);
  const faults = await feedFaults(db, billing.name, asRecords(body['events']));
  const wrong = missing.length + faults.length;
  report({ faults: ROUNDS, requests: ROUNDS, acknowledged: revision, wrong, lost: faults.length });
  expect(missing).toEqual([]);
  expect(faults).toEqual([]);
});

function read({ service }: Stoppable): Promise<Reply> {
  const { authorization } = billing;
  const options = { headers: { authorization }, timeoutMs: hangTimeoutMs() };
  return clientOf(service.url)('GET', '/api/events?after=start&limit=1000', options);
}
