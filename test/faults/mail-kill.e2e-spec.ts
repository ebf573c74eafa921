import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { MailServer } from '../support/mail-server.js';
import { anEmail, aPassword } from '../support/personas.js';
import { asString, clientOf, type Send } from '../support/service-client.js';
import { report } from './support/figures.js';
import { type Deed, killDuring } from './support/kill-during.js';
import { Random, seedOfRun } from './support/random.js';
import { ENGINES, RestartableService, Storage, UNLIMITED } from './support/deployment.js';

const KILLS = 8;
const WORKERS = 3;
const POLL_MS = 10;

/** What somebody was told of an account, and what was asked for when the service died. */
interface Person {
  email: string;
  nextEmail?: string;
  password: string;
  nextPassword?: string;
  isVerified?: boolean;
}

describe.each(ENGINES)('kill -9 while accounts are recovered, verified and moved on %s', (engine) => {
  let storage: Storage;
  let service: RestartableService;
  let mailServer: MailServer;
  let send: Send;
  let people: Person[];

  beforeEach(async () => {
    people = [];
    storage = await Storage.on(engine);
    mailServer = await MailServer.start();
    const env = { ...UNLIMITED, RATE_LIMIT_FORGOT: 'off', RATE_LIMIT_CODE: 'off', ...mailServer.env };
    service = await RestartableService.on(storage, env);
    send = clientOf(service.url);
    await service.start();
  });
  afterEach(async () => {
    await service.kill();
    await mailServer.stop();
    await storage.close();
  });

  async function ask(method: string, path: string, status: number, body: object, token?: string) {
    const answer = await send(method, path, { body, token });
    if (answer.status !== status) throw new Error(`${path} answered ${answer.status}, not ${status}`);
    return answer.body;
  }

  async function codeTo(email: string, isOver: () => boolean): Promise<string> {
    for (;;) {
      const code = mailServer.to(email).find((mail) => mail.code !== undefined)?.code;
      if (code !== undefined) return code;
      if (isOver()) throw new Error('the service is gone');
      await sleep(POLL_MS);
    }
  }

  async function aPerson(): Promise<{ person: Person; token: string }> {
    const person: Person = { email: anEmail(), password: aPassword() };
    const { token } = await ask('POST', '/api/auth/register', 201, { ...person });
    people.push(person);
    return { person, token: asString(token) };
  }

  const reset: Deed = async (isOver) => {
    const { person } = await aPerson();
    const { email } = person;
    await ask('POST', '/api/auth/password/forgot', 202, { email });
    const code = await codeTo(email, isOver);
    person.nextPassword = aPassword();
    await ask('POST', '/api/auth/password/reset', 200, { email, code, newPassword: person.nextPassword });
    person.password = person.nextPassword;
    person.isVerified = true;
  };

  const verify: Deed = async (isOver) => {
    const { person, token } = await aPerson();
    await ask('POST', '/api/me/email/verification', 202, {}, token);
    await ask('POST', '/api/me/email/verify', 200, { code: await codeTo(person.email, isOver) }, token);
    person.isVerified = true;
  };

  const move: Deed = async (isOver) => {
    const { person, token } = await aPerson();
    const nextEmail = anEmail('moved');
    await ask('PUT', '/api/me/email', 202, { email: nextEmail, password: person.password }, token);
    const code = await codeTo(nextEmail, isOver);
    person.nextEmail = nextEmail;
    await ask('POST', '/api/me/email/verify', 200, { code }, token);
    person.email = nextEmail;
  };

  it('leaves one password and one e-mail, and nothing without its event', { timeout: 240_000 }, async () => {
    const random = new Random(seedOfRun(`kill -9 of mailed codes on ${engine}`));
    const deeds = [reset, verify, move].flatMap((deed) => times(WORKERS, () => deed));
    for (let kill = 0; kill < KILLS; kill += 1) {
      await killDuring(service, deeds, random.between(1500, 3500));
    }

    const ways: number[] = [];
    for (const { email, nextEmail = email, password, nextPassword = password } of people) {
      const attempts = [...new Set([email, nextEmail])].flatMap((one) =>
        [...new Set([password, nextPassword])].map((other) => ({ email: one, password: other })),
      );
      const logins = await Promise.all(attempts.map((body) => send('POST', '/api/auth/login', { body })));
      ways.push(logins.filter(({ status }) => status === 200).length);
    }
    expect(ways).toEqual(people.map(() => 1));

    const verified = await storage.query('SELECT email FROM users WHERE email_verified_at IS NOT NULL');
    const emails = new Set(verified.map(({ email }) => email));
    const lost = people.filter(({ email, isVerified }) => isVerified && !emails.has(email));
    expect(lost).toEqual([]);
    expect(
      await storage.query(`SELECT u.id FROM users u WHERE u.revision <> (SELECT COUNT(*) FROM events e
        WHERE e.user_id = u.id AND e.type LIKE 'account.%')`),
    ).toEqual([]);
    const acknowledged = people.filter(
      ({ email, nextEmail, isVerified }) => isVerified || email === nextEmail,
    );
    expect(acknowledged.length).toBeGreaterThan(0);
    report({ faults: KILLS, requests: people.length, wrong: 0, acknowledged: acknowledged.length, lost: 0 });
  });
});
