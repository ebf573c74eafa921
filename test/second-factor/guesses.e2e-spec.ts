import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { MovableClock } from '../support/clock.js';
import { instancesInADuel } from '../support/engine.js';
import {
  aChallenge,
  appCode,
  AuthenticatorApp,
  aWrongCode,
  enrol,
  forgetSteps,
  protect,
  SECOND_FACTOR,
  secondStep,
} from '../support/second-factor.js';
import { invalidSecondFactorCode, rateLimited } from '../support/expected.js';
import { aVerifiedAccount } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { type Cluster, NO_LIMITS, type Service, startCluster } from '../support/service.js';
import { type Account, anAccount } from '../support/personas.js';

const WINDOW_MS = 15 * 60_000;
const RIGHT_CODES = 16;

const clock = new MovableClock();
let mailServer: MailServer;
let cluster: Cluster;
let service: Service;

beforeAll(async () => {
  mailServer = await MailServer.start();
  const env = { ...NO_LIMITS, ...mailServer.env, TRUST_PROXY: '127.0.0.1', NODE_OPTIONS: clock.option };
  cluster = await startCluster(instancesInADuel, { env });
  service = cluster.instances[0]!;
});
afterAll(async () => {
  await cluster.stop();
  await mailServer.stop();
});

it('right codes at once are accepted after nine wrong ones, and the tenth wrong one sends one notice', async () => {
  const ada = await aVerifiedAccount(service, 'ada');
  const { secret } = await enrol(ada);
  await forgetSteps(service, ada);
  const remove = (on: Service, code: string) =>
    ada.at(on).delete('/api/me?dryRun=true', { password: ada.password, code });
  for (const _ of times(9, () => 0))
    expect(await remove(service, aWrongCode(secret))).toMatchObject(invalidSecondFactorCode);
  const code = appCode(secret);
  const answers = await atOnce(
    times(RIGHT_CODES, (place) => () => remove(cluster.instances[place % cluster.instances.length]!, code)),
  );
  expect(answers.map(({ status }) => status)).toEqual(times(RIGHT_CODES, () => 200));
  expect(await remove(service, aWrongCode(secret))).toMatchObject(invalidSecondFactorCode);
  for (const on of cluster.instances) expect(await remove(on, code)).toMatchObject(rateLimited);
  await mailServer.next(ada.email, 2);
  const subjects = mailServer.to(ada.email).map(({ subject }) => subject);
  expect(subjects.filter((subject) => subject.includes('wrong codes'))).toHaveLength(1);
});

const GUESSES: [string, (account: Account, code: string) => Promise<Answer>][] = [
  ['of logins', async (account, code) => secondStep(service, await aChallenge(service, account), code)],
  [
    'of a user who is signed in',
    (account, code) => account.post(`${SECOND_FACTOR}/recovery-codes`, { password: account.password, code }),
  ],
];

it.each(GUESSES)(
  'ten wrong codes %s are all that an account takes in any 15 minutes',
  async (_whose, guess) => {
    const { account, app } = await protect(service, await anAccount(service, 'ada'));
    const wrong = (): Promise<Answer> => guess(account, app.wrong());
    expect(await wrong()).toMatchObject(invalidSecondFactorCode);
    clock.moveOn(WINDOW_MS - 2000);
    for (const _ of times(9, () => 0)) expect(await wrong()).toMatchObject(invalidSecondFactorCode);
    clock.moveOn(3000);
    const answers = [];
    for (const _ of times(10, () => 0)) answers.push(await wrong());
    // The first guess is over by now, so that one more may be compared.
    expect(
      answers.filter(({ status }) => status === invalidSecondFactorCode.status).length,
    ).toBeLessThanOrEqual(1);
    expect(answers.at(-1)).toMatchObject(rateLimited);
    clock.moveOn(WINDOW_MS);
    const later = new AuthenticatorApp(app.secret).at(Math.floor(clock.ahead / 30_000));
    expect((await guess(account, later)).status).toBe(200);
  },
);
