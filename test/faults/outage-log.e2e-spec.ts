import { expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { atOnce, times } from '../support/at-once.js';
import { anInstallation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { launch, NO_LIMITS } from '../support/service.js';
import { closeAfterTest } from './support/deployment.js';
import { report } from './support/figures.js';

const REQUESTS = 60;

interface Line {
  level: number;
  msg: string;
  requestId?: string;
  status?: number;
  cause?: string;
  count?: number;
  err?: { stack?: string };
}

it('an outage of the database is one stack and one count for each cause, and a line for each request', async () => {
  const server = await closeAfterTest(
    MariaDbServer.start().then((started) => ({ started, close: () => started.kill() })),
  );
  const installation = await anInstallation({ mariadbPort: server.started.port });
  const service = await launch(installation, NO_LIMITS).listening;
  const ada = await anAccount(service, 'ada');
  const known = service.logs.length;
  const lines = () => service.logs.slice(known).map((line) => JSON.parse(line) as Line);
  const warnings = () =>
    lines().filter(({ level, msg }) => level === 40 && msg.startsWith('The database cannot be'));
  const sumOf = (counted: Line[]) => counted.reduce((sum, { count = 0 }) => sum + count, 0);

  await server.started.kill();
  const answers = await atOnce(times(REQUESTS, () => () => ada.get('/api/me')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  await waitFor('all are logged', hangTimeoutMs(), () => {
    const stacks = warnings().filter(({ err }) => err?.stack);
    return stacks.length + sumOf(warnings()) === REQUESTS;
  });

  const refused = lines().filter(({ msg, status }) => msg === 'request' && status === 503);
  const causes = new Set(refused.map(({ cause }) => cause));
  const stacks = warnings().filter(({ err }) => err?.stack);
  const ids = new Set(refused.map(({ requestId }) => requestId));
  expect(refused).toHaveLength(REQUESTS);
  expect(stacks.every(({ requestId }) => ids.has(requestId))).toBe(true);
  // A machine that needs more than ten seconds for this begins a second count.
  expect(stacks.length).toBeLessThan(REQUESTS / 4);
  for (const { cause } of warnings().filter(({ count }) => count !== undefined))
    expect(causes).toContain(cause);
  report({ faults: 1, requests: REQUESTS, wrong: 0 });

  await server.started.restart();
  await waitFor('it serves again', hangTimeoutMs(), async () => (await ada.get('/api/me')).status === 200);
  await service.stop();
  await installation.remove();
});
