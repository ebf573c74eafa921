import { afterAll, beforeAll, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { accountsJson } from '../support/accounts-command.js';
import type { Answer } from '../support/answer.js';
import { MovableClock } from '../support/clock.js';
import { AuthenticatorApp, SECOND_FACTOR } from '../support/second-factor.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { aVerifiedAccount } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { Account, anAccount, aPassword, connectionTo, type Session } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { startInstance, startInstances, stopAll } from './support/deployment.js';
import { RedisServer } from './support/redis-server.js';
import { done, expectHealthy } from './support/story.js';

const STEP_MS = 30_000;
const DAY_MS = 86_400_000;
const REASON = 'ticket 4711: phone lost, called back';

const clock = new MovableClock();
let database: MariaDbServer;
let redis: RedisServer;
let mailServer: MailServer;
let installation: Installation;
let settings: Record<string, string>;
let instances: Instance[];

beforeAll(async () => {
  [database, redis, mailServer] = await Promise.all([
    MariaDbServer.start(),
    RedisServer.start(),
    MailServer.start(),
  ]);
  installation = await anInstallation({ mariadbPort: database.port });
  settings = { NODE_OPTIONS: clock.option, ...mailServer.env, REDIS_URL: redis.url };
  instances = await startInstances(installation, [settings, settings, settings]);
});
afterAll(async () => {
  await stopAll(instances);
  await installation.remove();
  await mailServer.stop();
  await Promise.all([redis.close(), database.close()]);
});

/** Somebody with a phone, on which there may be an authenticator app, and a sheet of recovery codes. */
class Person {
  app = new AuthenticatorApp('');
  recoveryCodes: string[] = [];
  password: string;

  constructor(private account: Account) {
    this.password = account.password;
  }

  get id(): string {
    return this.account.id;
  }

  get email(): string {
    return this.account.email;
  }

  at(turn: number): Account {
    return this.account.at(instances[turn % instances.length]!);
  }

  /** Sends the code that enables it to every instance at once. */
  async enrol(turn: number): Promise<void> {
    const begun = await this.at(turn).post<{ secret: string }>(SECOND_FACTOR, { password: this.password });
    this.app = new AuthenticatorApp(done(begun, 201).secret);
    const code = await this.nextCode();
    const answers = await Promise.all(
      instances.map((_, index) =>
        this.at(index).post<{ recoveryCodes: string[] }>(`${SECOND_FACTOR}/confirm`, { code }),
      ),
    );
    this.recoveryCodes = theOne(answers, [400, 409]).recoveryCodes;
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
    const answers = await Promise.all(instances.map((_, index) => this.secondStep(index, challenge, code)));
    this.take(theOne(answers, [400]).token);
  }

  async logInByPassword(turn: number): Promise<void> {
    this.take(done(await this.firstStep(turn)).token);
  }

  private take(token: string): void {
    this.account = new Account(connectionTo(instances[0]!), token, this.id, this.email, this.password);
  }
}

/** The body of the one answer that says yes; all others refuse. */
function theOne<T>(answers: Answer<T>[], refusals: number[]): T {
  const [good, ...others] = answers.toSorted((one, other) => one.status - other.status);
  for (const { status, text } of others) expect(refusals, text).toContain(status);
  return done(good!);
}

async function mailsAreSent(): Promise<void> {
  await waitFor('all mails are sent', hangTimeoutMs(), async () => {
    const [row] = await installation.db.query("SELECT COUNT(*) AS n FROM mails WHERE state <> 'sent'");
    return Number(row!['n']) === 0;
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
    const removals = await Promise.all(
      [0, 1].map((turn) => ada.at(turn).post(`${SECOND_FACTOR}/remove`, removal)),
    );
    theOne(removals, [400]);
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
    const mail = await waitForCode(ada.email);
    ada.password = aPassword();
    const reset = { email: ada.email, code: mail, newPassword: ada.password };
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
    expect([(await ada.at(2).get('/api/me')).status, (await other.get('/api/me')).status]).toEqual([
      200, 401,
    ]);

    // October: everything is lost. Guessing helps nobody, on whatever instance; an operator does.
    await later(60);
    const guessed = await ada.challenge(0);
    const guesses: number[] = [];
    for (let turn = 0; turn < 11; turn += 1)
      guesses.push((await ada.secondStep(turn, guessed, wrongAt(ada.app))).status);
    expect(guesses).toEqual([...Array.from({ length: 10 }, () => 400), 429]);
    await operator.logIn(1);
    const help = `/api/operators/users/${ada.id}/remove-second-factor`;
    const helped = await Promise.all(
      [0, 1, 2].map((turn) => operator.at(turn).post(help, { reason: REASON })),
    );
    for (const answer of helped) done(answer);
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
    const exported = done(
      await ada.at(0).get<{ secondFactor: object[]; events: { type: string }[] }>('/api/me/export'),
    );
    expect(exported.secondFactor).toEqual([{ enabledAt: expect.any(String), recoveryCodesLeft: 10 }]);
    expect(exported.events.map(({ type }) => type).toSorted()).toEqual(tallied(EVENTS));
    const recorded = await installation.db.query(
      "SELECT reason FROM events WHERE user_id = ? AND type = 'account.second_factor_removed' ORDER BY id",
      [ada.id],
    );
    expect(recorded.map(({ reason }) => reason)).toEqual([null, REASON, REASON]);
    await later(0);
    expect(
      mailServer
        .to(ada.email)
        .map(({ subject }) => subject)
        .toSorted(),
    ).toEqual(tallied(MAILS));
    expect(mailServer.to(operator.email).map(({ subject }) => subject)).toEqual([SET_UP]);
    await expectHealthy(installation);
    report({ faults: 1, wrong: 0 });
  },
);

async function waitForCode(email: string): Promise<string> {
  const subject = 'Your code for a new password';
  const find = (): string | undefined => mailServer.to(email).find((mail) => mail.subject === subject)?.code;
  await waitFor('the mail with the code', hangTimeoutMs(), () => find() !== undefined);
  return find()!;
}

/** Six digits that are no code about the moment that the service believes it to be. */
function wrongAt(app: AuthenticatorApp): string {
  const near = new Set([-2, -1, 0, 1, 2].map((steps) => app.at(clock.ahead / STEP_MS + steps)));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.has(code))!;
}

function tallied(counts: Record<string, number>): string[] {
  return Object.entries(counts)
    .flatMap(([name, count]) => Array.from({ length: count }, () => name))
    .toSorted();
}

const SET_UP = 'Your account asks for a second factor now';

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
  'Your code to confirm this e-mail address': 1,
  'Your code for a new password': 1,
  'Your password was changed': 2,
  'A recovery code of your account was used': 2,
  'Somebody sends wrong codes for your account': 1,
  [SET_UP]: 4,
  'Your account asks for no second factor any more': 3,
};
