import { expect, it } from 'vitest';
import { createGuard } from '../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Door } from '../client/support/door.js';
import { anAccount } from '../support/personas.js';
import { aServiceCaller } from '../support/services.js';
import { closeAfterAll, startInstance, Storage, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';

const { installation } = await closeAfterAll(Storage.on('mariadb'));
const first = await closeAfterAll(startInstance(installation, UNLIMITED));
const second = await closeAfterAll(startInstance(installation, UNLIMITED));
const door = await closeAfterAll(Door.open(first.url));
const { name, secret } = await aServiceCaller(first, 'introspect', 'events');
const verifier = await closeAfterAll(
  createGuard({
    issuer: 'accounts',
    audience: 'accounts',
    baseUrl: door.url,
    credentials: { name, secret },
    // Less than the wait of a request and the longest that its answer may be late.
    maxStaleness: 5,
  }),
);

it('hears of a log-out from another instance while the one that it waits at is frozen, and never counts its feed as silent', async () => {
  const rounds = 5;
  const heardMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [frozen, other] = round % 2 === 0 ? [first, second] : [second, first];
    const ada = await anAccount(other);
    const admit = () => verifier.authorize(`Bearer ${ada.token}`);
    expect(await admit()).toMatchObject({ ok: true });
    await waitFor('a request waits', hangTimeoutMs(), () => door.isWaiting('/api/events'));

    process.kill(frozen.pid, 'SIGSTOP');
    door.leadTo(other.url);
    await ada.post('/api/auth/logout', {});
    const loggedOutAt = performance.now();
    const answers = new Set<unknown>();
    await waitFor('the log-out is heard', hangTimeoutMs(), async () => {
      const answer = await admit();
      answers.add(answer.ok || answer.status);
      return answers.has(401);
    });
    heardMs.push(performance.now() - loggedOutAt);
    process.kill(frozen.pid, 'SIGCONT');

    expect(answers).not.toContain(503);
  }
  report({ faults: rounds, longestAnswerMs: Math.max(...heardMs) });
});
