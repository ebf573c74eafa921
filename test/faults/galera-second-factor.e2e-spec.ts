import { afterAll, beforeAll, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { forgetSteps } from '../support/enrolment.js';
import { type Account, anAccount } from '../support/personas.js';
import { protect, type Protected } from '../support/second-factor.js';
import { report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { UNLIMITED } from './support/restartable-service.js';
import { done } from './support/story.js';

const ROUNDS = 9;
const LOGINS = 50;
const GUESSES = 40;

let galera: GaleraService;

beforeAll(async () => {
  galera = await GaleraService.start({ nodes: 2, env: UNLIMITED });
});
afterAll(() => galera.stop());

/** Logs in so often at once, on both nodes in turn, and returns the statuses of the answers. */
async function statusesAtOnce({ email, password }: Account, logins: number, code: string): Promise<number[]> {
  const first = await galera.on(0).anyone.post<{ challenge: string }>('/api/auth/login', { email, password });
  const { challenge } = done(first, 403);
  const answers = await atOnce(
    times(logins, (turn) => () => {
      return galera.on(turn).anyone.post('/api/auth/login/second-factor', { challenge, code });
    }),
  );
  return answers.map(({ status }) => status);
}

async function logInAtOnce(account: Account, logins: number, code: string): Promise<string> {
  const statuses = await statusesAtOnce(account, logins, code);
  const isLetIn = statuses.filter((status) => status === 200).length;
  const isRefused = statuses.filter((status) => status === 400 || status === 429).length;
  return `${isLetIn} let in, ${isRefused} refused`;
}

async function aProtectedAccount(turn: number): Promise<Protected> {
  const account = await anAccount(galera.on(turn));
  const enrolled = await protect(galera.on(0), account);
  await galera.cluster.waitUntilEqual();
  return enrolled;
}

it('lets one of 50 logins in by a code of the app that both nodes are sent at the same moment', async () => {
  const { account, app } = await aProtectedAccount(0);
  const results: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await forgetSteps(galera.on(0), account);
    // The wrong ones of the round before have used up the attempts.
    await galera.storage.query('DELETE FROM second_factor_failures');
    await galera.cluster.waitUntilEqual();
    results.push(await logInAtOnce(account, LOGINS, app.at()));
    await galera.cluster.waitUntilEqual();
  }
  expect(results).toEqual(times(ROUNDS, () => `1 let in, ${LOGINS - 1} refused`));
  report({ faults: ROUNDS, requests: ROUNDS * (LOGINS + 1), wrong: 0 });
});

it('compares ten of 40 wrong codes that both nodes are sent at the same moment', async () => {
  const isCompared = (turn: number): number => (turn < 10 ? 400 : 429);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { account, app } = await aProtectedAccount(round);
    const statuses = await statusesAtOnce(account, GUESSES, app.wrong());
    expect(statuses.toSorted((one, other) => one - other)).toEqual(times(GUESSES, isCompared));
  }
  report({ faults: ROUNDS, requests: ROUNDS * (GUESSES + 1), wrong: 0 });
});

it('lets one of two logins in by a recovery code that both nodes are sent at the same moment', async () => {
  const { account, recoveryCodes } = await aProtectedAccount(1);
  const results: string[] = [];
  for (const code of recoveryCodes) results.push(await logInAtOnce(account, 2, code));
  expect(results).toEqual(recoveryCodes.map(() => '1 let in, 1 refused'));
  report({ faults: recoveryCodes.length, requests: 3 * recoveryCodes.length, wrong: 0 });
});
