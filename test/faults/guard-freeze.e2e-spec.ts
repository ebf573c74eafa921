import { afterAll, beforeAll, expect, it } from 'vitest';
import { createVerifier, type Verifier } from '../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Door } from '../client/support/door.js';
import { type Account, anAccount } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { aServiceCaller } from '../support/service-caller.js';
import { report } from './support/figures.js';
import { UNLIMITED } from './support/restartable-service.js';
import { Storage } from './support/storage.js';

const ROUNDS = 5;

let storage: Storage;
let instances: [Instance, Instance];
let door: Door;
let verifier: Verifier;

beforeAll(async () => {
  storage = await Storage.on('mariadb');
  const { installation } = storage;
  const first = await startOwnService({ installation, env: UNLIMITED });
  instances = [first, await startOwnService({ installation, env: UNLIMITED })];
  door = await Door.open(first.url);
  const { name, secret } = await aServiceCaller(first, 'introspect', 'events');
  const credentials = { name, secret };
  // Less than the wait of a request and the longest that its answer may be late.
  verifier = createVerifier({
    issuer: 'accounts',
    audience: 'accounts',
    baseUrl: door.url,
    credentials,
    maxStaleness: 5,
  });
});
afterAll(async () => {
  await verifier.close();
  await door.close();
  for (const instance of instances) await instance.stop();
  await storage.close();
});

const admit = ({ token }: Account) => verifier.authorize(`Bearer ${token}`);

it('hears of a log-out from another instance while the one that it waits at is frozen, and never counts its feed as silent', async () => {
  const heardMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [frozen, other] = round % 2 === 0 ? instances : instances.toReversed();
    const ada = await anAccount(other!);
    expect(await admit(ada)).toMatchObject({ ok: true });
    await waitFor('a request waits', hangTimeoutMs(), () => door.isWaiting('/api/events'));

    process.kill(frozen!.pid, 'SIGSTOP');
    door.leadTo(other!.url);
    await ada.at(other!).post('/api/auth/logout', {});
    const loggedOutAt = performance.now();
    const answers = new Set<unknown>();
    await waitFor('the log-out is heard', hangTimeoutMs(), async () => {
      const answer = await admit(ada);
      answers.add(answer.ok || answer.status);
      return answers.has(401);
    });
    heardMs.push(performance.now() - loggedOutAt);
    process.kill(frozen!.pid, 'SIGCONT');

    expect(answers).not.toContain(503);
  }
  report({ faults: ROUNDS, longestAnswerMs: Math.max(...heardMs) });
});
