import { expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import { MovableClock } from '../support/clock.js';
import { AuthenticatorApp, SECOND_FACTOR } from '../support/second-factor.js';
import { aVerifiedAccount } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { Account, anAccount, aPassword, connectionTo, type Session } from '../support/personas.js';
import { report } from './support/figures.js';
import {
  closeAfterAll,
  countOf,
  startInstance,
  startInstances,
  stopAll,
  Storage,
} from './support/deployment.js';
import { RedisServer } from './support/redis-server.js';
import { done, expectHealthy } from './support/story.js';

const STEP_MS = 30_000;
const DAY_MS = 86_400_000;
const REASON = 'ticket 4711: phone lost, called back';

const clock = new MovableClock();
const { installation } = await closeAfterAll(Storage.on('mariadb'));
const redis = await closeAfterAll(RedisServer.start());
const mailServer = await closeAfterAll(MailServer.start());
const settings = { NODE_OPTIONS: clock.option, ...mailServer.env, REDIS_URL: redis.url };
const instances = await startInstances(installation, [settings, settings, settings]);
await closeAfterAll({ close: () => stopAll(instances) });

/** Somebody with a phone, on which there may be an authenticator app, and a sheet of recovery codes. */
class Person {
  app = new AuthenticatorApp('');
  recoveryCodes: string[] = [];
  password: string;
  readonly id: string;
  readonly email: string;

  constructor(private account: Account) {
    ({ id: this.id, email: this.email, password: this.password } = account);
  }

  at(turn: number): Account {
    return this.account.at(instances[turn % instances.length]!);
  }

  /** Sends the code that enables it to every instance at once. */
  async enrol(turn: number): Promise<void> {
    const begun = await this.at(turn).post<{ secret: string }>(SECOND_FACTOR, { password: this.password });
    this.app = new AuthenticatorApp(done(begun, 201).secret);
    const code = await this.nextCode();
    const path = `${SECOND_FACTOR}/confirm`;
    const confirm = (at: number) => this.at(at).post<{ recoveryCodes: string[] }>(path, { code });
    this.recoveryCodes = theOne(await Promise.all([0, 1, 2].map(confirm)), [400, 409]).recoveryCodes;
  }

  /** A step works once: half a minute passes before the code is read. No mail is under way meanwhile, or it would be sent again. */
  async nextCode(): Promise<string> {
    await mailsAreSent();
    clock.moveOn(STEP_MS);
    return this.app.at(clock.ahead / STEP_MS);
  }

  firstStep(turn: number): Promise<Answer<{ challenge: string } & Session>> {
    const { email, password } = this;
    return this.at(turn).withToken(undefined).post('/api/auth/login', { email, password });
  }

  async challenge(turn: number): Promise<string> {
    return done(await this.firstStep(turn), 403).challenge;
  }

  secondStep(turn: number, challenge: string, code: string): Promise<Answer<Session>> {
    const body = { challenge, code };
    return this.at(turn).withToken(undefined).post('/api/auth/login/second-factor', body);
  }

  /** Sends the same code to every instance at once. */
  async logIn(turn: number, recoveryCode?: string): Promise<void> {
    const code = recoveryCode ?? (await this.nextCode());
    const challenge = await this.challenge(turn);
    const answers = await Promise.all([0, 1, 2].map((at) => this.secondStep(at, challenge, code)));
    this.take(theOne(answers, [400]).token);
  }

  async logInByPassword(turn: number): Promise<void> {
    this.take(done(await this.firstStep(turn)).token);
  }

  private take(token: string): void {
    this.account = new Account(connectionTo(instances[0]!), token, this.id, this.email, this.password);
  }
}

function theOne<T>(answers: Answer<T>[], refusals: number[]): T {
  const [good, ...others] = answers.toSorted((one, other) => one.status - other.status);
  for (const { status, text } of others) expect(refusals, text).toContain(status);
  return done(good!);
}

async function mailsAreSent(): Promise<void> {
  await waitFor('all mails are sent', hangTimeoutMs(), async () => {
    return (await countOf(installation.db, "mails WHERE state <> 'sent'")) === 0;
  });
}

/** The windows of limits end, too, which Redis keeps by its own clock. */
async function later(days: number): Promise<void> {
  await mailsAreSent();
  clock.moveOn(days * DAY_MS);
  await redis.command('FLUSHALL');
}

const command = <T>(...parameters: string[]): Promise<T[]> =>
  accountsJson<T>(installation, parameters, { env: settings });

it(
  'is lived through on three instances, by somebody who loses nearly everything',
  { timeout: 300_000 },
  async () => {
    const ada = new Person(await anAccount(instances[0]!, 'ada'));
    const operator = new Person(await aVerifiedAccount(instances[1]!, 'operator'));

    // January: Ada and the operator protect their logins; from then on the password alone opens nothing.
    done(await ada.at(1).post('/api/me/email/verification'), 202);
    done(await ada.at(2).post('/api/me/email/verify', { code: (await mailServer.next(ada.email)).code }));
    await ada.enrol(1);
    await operator.enrol(2);
    await command('operators', 'grant', operator.email, '--reason', 'on call this year');
    for (const turn of [0, 1, 2]) await ada.logIn(turn);

    // March: a second signing key. What the first has sealed and signed is still good.
    await later(60);
    await command('keys', 'rotate');
    await ada.logIn(1);

    // May: a new phone. A recovery code, read aloud and typed in small letters, lets her in; another one removes the old app.
    await later(60);
    const [lostApp, sheet] = [ada.app, ada.recoveryCodes];
    await ada.logIn(2, sheet[0]!.toLowerCase());
    const state = { enabled: true, recoveryCodesLeft: 9 };
    expect(done(await ada.at(0).get(SECOND_FACTOR))).toMatchObject(state);
    const removal = { password: ada.password, code: sheet[1]! };
    const remove = (turn: number) => ada.at(turn).post(`${SECOND_FACTOR}/remove`, removal);
    theOne(await Promise.all([0, 1].map(remove)), [400]);
    await ada.enrol(0);
    await mailsAreSent();
    clock.moveOn(STEP_MS);
    const old = [lostApp.at(clock.ahead / STEP_MS), sheet[0]!, sheet[2]!];
    const between = await ada.challenge(1);
    for (const code of old) expect((await ada.secondStep(2, between, code)).status).toBe(400);

    // The instance that gave the challenge is killed. Another takes the second step, and the first key goes.
    await instances[1]!.kill();
    done(await ada.secondStep(2, between, await ada.nextCode()));
    instances[1] = await startInstance(installation, settings);
    const pruned = await command<{ removed: boolean }>('keys', 'prune');
    expect(pruned.map(({ removed }) => removed)).toEqual([false, true]);
    await ada.logIn(1);

    // July: she forgets the password. The emailed code sets another one, and opens nothing.
    await later(50);
    done(await ada.at(2).withToken(undefined).post('/api/auth/password/forgot', { email: ada.email }), 202);
    const isReset = ({ subject }: { subject: string }): boolean => subject === 'Your password reset code';
    const { code } = await waitFor('the mail with the code', hangTimeoutMs(), () =>
      mailServer.to(ada.email).find(isReset),
    );
    ada.password = aPassword();
    const reset = { email: ada.email, code, newPassword: ada.password };
    done(await ada.at(0).withToken(undefined).post('/api/auth/password/reset', reset));
    expect((await ada.at(1).get('/api/me')).status).toBe(401);
    await ada.logIn(2);

    // August: she changes it, which takes the password and a code, and ends her other login.
    await later(30);
    await ada.logIn(0);
    const other = ada.at(1);
    await ada.logIn(1);
    const newPassword = aPassword();
    const change = { currentPassword: ada.password, newPassword };
    expect((await ada.at(0).put('/api/me/password', change)).status).toBe(400);
    done(await ada.at(0).put('/api/me/password', { ...change, code: await ada.nextCode() }));
    ada.password = newPassword;
    const statuses = [(await ada.at(2).get('/api/me')).status, (await other.get('/api/me')).status];
    expect(statuses).toEqual([200, 401]);

    // October: everything is lost. Guessing helps nobody, on whatever instance; an operator does.
    await later(60);
    const guessed = await ada.challenge(0);
    const guesses: number[] = [];
    for (let turn = 0; turn < 11; turn += 1)
      guesses.push((await ada.secondStep(turn, guessed, wrongAt(ada.app))).status);
    expect(guesses).toEqual([...times(10, () => 400), 429]);
    await operator.logIn(1);
    const help = `/api/operators/users/${ada.id}/remove-second-factor`;
    const helping = [0, 1, 2].map((turn) => operator.at(turn).post(help, { reason: REASON }));
    for (const answer of await Promise.all(helping)) done(answer);
    expect((await ada.secondStep(2, guessed, await ada.nextCode())).status).toBe(401);
    await ada.logInByPassword(2);
    await ada.enrol(2);
    await ada.logIn(0);

    // November: it happens again, and the operator has a shell at hand.
    await later(30);
    await command('users', 'remove-second-factor', ada.email, '--reason', REASON);
    await ada.logInByPassword(1);
    await ada.enrol(1);

    // December: what the year has left.
    await later(30);
    await ada.logIn(2);
    type Export = { secondFactor: object[]; events: { type: string }[] };
    const exported = done(await ada.at(0).get<Export>('/api/me/export'));
    expect(exported.secondFactor).toEqual([{ enabledAt: expect.any(String), recoveryCodesLeft: 10 }]);
    expect(exported.events.map(({ type }) => type).toSorted()).toEqual(tallied(EVENTS));
    const sql =
      "SELECT reason FROM events WHERE user_id = ? AND type = 'account.second_factor_removed' ORDER BY id";
    const recorded = await installation.db.query(sql, [ada.id]);
    expect(recorded.map(({ reason }) => reason)).toEqual([null, REASON, REASON]);
    await later(0);
    const mailedTo = ({ email }: Person) => mailServer.to(email).map(({ subject }) => subject);
    expect(mailedTo(ada).toSorted()).toEqual(tallied(MAILS));
    // The operator's login in October is the first for more than 90 days.
    expect(mailedTo(operator)).toEqual([SET_UP, 'New login to your account']);
    // The doctor runs today: it would report instances whose clocks are months ahead.
    await stopAll(instances);
    await expectHealthy(installation);
    report({ faults: 1, wrong: 0 });
  },
);

/** Six digits that are not a code about the moment that the service believes it to be. */
function wrongAt(app: AuthenticatorApp): string {
  const near = new Set([-2, -1, 0, 1, 2].map((steps) => app.at(clock.ahead / STEP_MS + steps)));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.has(code))!;
}

const tallied = (counts: Record<string, number>): string[] =>
  Object.entries(counts)
    .flatMap(([name, count]) => times(count, () => name))
    .toSorted();

const SET_UP = 'Two-factor authentication was turned on';

const EVENTS = {
  'account.registered': 1,
  'account.email_verified': 1,
  'account.password_changed': 2,
  'account.recovery_code_used': 2,
  'account.second_factor_enabled': 4,
  'account.second_factor_removed': 3,
  // Each change of the password or of the second factor ends all other sessions.
  'session.ended': 9,
  'session.started': 15,
};

const MAILS = {
  'Your code to confirm this email address': 1,
  'Your password reset code': 1,
  'Your password was changed': 2,
  'A recovery code of your account was used': 2,
  'Someone entered wrong codes for your account': 1,
  [SET_UP]: 4,
  'Two-factor authentication was turned off': 3,
};
