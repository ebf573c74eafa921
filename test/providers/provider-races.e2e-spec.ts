import { afterAll, describe, expect, it } from 'vitest';
import {
  type AddedProvider,
  addProvider,
  aDomain,
  aSubject,
  emailAt,
  eventsOf,
  finishAt,
  insertConfirmed,
} from '../support/at-providers.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { accounts } from '../support/accounts-command.js';
import { roundsOfARace } from '../support/engine.js';
import { identityTaken, invalidProviderLogin, registrationClosed } from '../support/expected.js';
import { answerAfter } from '../support/held-rows.js';
import { anOperator } from '../support/operators.js';
import { type Account, anAccountOf, aPassword, isAlive, type Session } from '../support/personas.js';
import { TestProvider } from '../support/provider.js';
import { startSharedCluster } from '../support/service.js';

const ROUNDS = roundsOfARace(12);
const REASON = { reason: 'test' };

const cluster = await startSharedCluster();
const { db, installation } = cluster;
const at = (index: number) => cluster.instances[index % cluster.instances.length]!;
// It is never asked: the rows of its callbacks are inserted.
const provider = await TestProvider.start();
afterAll(() => provider.stop());
const operator = await anOperator(at(0));

type Finished = Answer<Session>;

async function aProvider(settings: object): Promise<AddedProvider & { domain: string }> {
  const domain = aDomain();
  return { domain, ...(await addProvider(at(0), provider, { domains: [domain], ...settings })) };
}

const confirm = (added: AddedProvider, subject: string, email: string) =>
  insertConfirmed(at(0), added, { subject, email });

const subjectsOf = async (userId: string): Promise<unknown[]> =>
  (await db.query('SELECT subject FROM identities WHERE user_id = ?', [userId])).map(
    ({ subject }) => subject,
  );

const usersWith = async (email: string): Promise<string[]> =>
  (await db.query('SELECT id FROM users WHERE email = ?', [email])).map(({ id }) => String(id));

const opened = (answers: Finished[]) => answers.filter(({ status }) => status === 200);

it('one code that is finished 20 times at once opens one session', async () => {
  const acme = await aProvider({ createUsers: true });
  for (let round = 0; round < ROUNDS; round += 1) {
    const [subject, email] = [aSubject(), emailAt(acme.domain)];
    const confirmed = await confirm(acme, subject, email);
    const answers = await atOnce(times(20, (index) => () => finishAt(at(index), confirmed)));
    expect(opened(answers)).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 200);
    for (const answer of others) expect(answer).toMatchObject(invalidProviderLogin);
    const [userId] = await usersWith(email);
    const sessions = await db.query('SELECT id FROM sessions WHERE user_id = ?', [userId!]);
    expect(sessions).toHaveLength(1);
  }
});

it('two logins of a new person at once create one user', async () => {
  const acme = await aProvider({ createUsers: true });
  for (let round = 0; round < ROUNDS; round += 1) {
    const [subject, email] = [aSubject(), emailAt(acme.domain)];
    const codes = await Promise.all(times(2, () => confirm(acme, subject, email)));
    const answers = await atOnce(codes.map((code, index) => () => finishAt(at(round + index), code)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [userId] = await usersWith(email);
    expect(answers.map(({ body }) => body.user.id)).toEqual([userId, userId]);
    const types = (await eventsOf(at(0), userId!)).map(([type]) => type);
    expect(types.filter((type) => type === 'account.registered')).toHaveLength(1);
    expect(types.filter((type) => type === 'session.started')).toHaveLength(2);
  }
});

it('two people to whom the provider gives one email become one user, who is one of them', async () => {
  const acme = await aProvider({ createUsers: true, linkByEmail: true });
  for (let round = 0; round < ROUNDS; round += 1) {
    const email = emailAt(acme.domain);
    const subjects = [aSubject(), aSubject()];
    const codes = await Promise.all(subjects.map((subject) => confirm(acme, subject, email)));
    const answers = await atOnce(codes.map((code, index) => () => finishAt(at(round + index), code)));
    expect(opened(answers)).toHaveLength(1);
    expect(answers.find(({ status }) => status !== 200)).toMatchObject(identityTaken);
    const [userId] = await usersWith(email);
    const winner = subjects[answers.findIndex(({ status }) => status === 200)];
    expect(await subjectsOf(userId!)).toEqual([winner]);
  }
});

it('a login at a provider and a registration of its email end with one user', async () => {
  const acme = await aProvider({ createUsers: true });
  for (let round = 0; round < ROUNDS; round += 1) {
    const email = emailAt(acme.domain);
    const code = await confirm(acme, aSubject(), email);
    const [finished, registered] = await atOnce<Answer>([
      () => finishAt(at(round), code),
      () => at(round + 1).anyone.post('/api/auth/register', { email, password: aPassword() }),
    ]);
    const [userId, ...others] = await usersWith(email);
    expect(others).toEqual([]);
    const isCreated = finished!.status === 200;
    expect([finished!.status, registered!.status]).toEqual(isCreated ? [200, 409] : [409, 201]);
    expect(await subjectsOf(userId!)).toHaveLength(isCreated ? 1 : 0);
  }
});

interface Change {
  change: (ada: Account, round: number) => Promise<unknown>;
  /** if the change came first */
  refused: [status: number, code: string];
}

const disable = (ada: Account, round: number) =>
  operator.at(at(round)).post(`/api/operators/users/${ada.id}/disable`, REASON);

const CHANGES: Record<string, Change> = {
  'a change of the password': {
    change: (ada) => ada.put('/api/me/password', { currentPassword: ada.password, newPassword: aPassword() }),
    refused: [403, 'wrong_password'],
  },
  'a change of the email': {
    change: (ada) =>
      db.query('UPDATE users SET email = ?, revision = revision + 1 WHERE id = ?', [`x${ada.email}`, ada.id]),
    refused: [403, 'registration_closed'],
  },
  'disabling the user': { change: disable, refused: [403, 'account_disabled'] },
  'the deletion of the user': {
    change: (ada) => ada.delete('/api/me', { password: ada.password }),
    refused: [403, 'registration_closed'],
  },
};

describe.each(Object.entries(CHANGES))(
  'linking with the password, and %s at once',
  (_, { change, refused }) => {
    it('links before the change, or not at all', async () => {
      const acme = await aProvider({});
      for (let round = 0; round < ROUNDS; round += 1) {
        const ada = await anAccountOf(at(0), emailAt(acme.domain));
        const code = await confirm(acme, aSubject(), ada.email);
        const { password } = ada;
        const [finished] = await atOnce<unknown>([
          () => finishAt(at(round), code, { password }),
          () => change(ada.at(at(round + 1)), round + 2),
        ]);
        const { status, body } = finished as Answer<{ code?: string }>;
        const isLinked = (await subjectsOf(ada.id)).length === 1;
        const isThere = (await db.query('SELECT id FROM users WHERE id = ?', [ada.id])).length === 1;
        expect([[200, undefined], refused]).toContainEqual([status, body.code]);
        expect(isLinked).toBe(status === 200 && isThere);
        const linked = (await eventsOf(at(0), ada.id)).filter(([type]) => type === 'account.identity_linked');
        expect(linked).toHaveLength(status === 200 ? 1 : 0);
      }
    });
  },
);

describe('a change that commits while the link waits for the user', () => {
  const linkAfter = async (change: string) => {
    const acme = await aProvider({});
    const ada = await anAccountOf(at(0), emailAt(acme.domain));
    const code = await confirm(acme, aSubject(), ada.email);
    const answer = await answerAfter(
      at(0),
      (held) => held.write(`UPDATE users SET ${change}, revision = revision + 1 WHERE id = ?`, [ada.id]),
      () => finishAt(at(0), code, { password: ada.password }),
    );
    return { ada, answer: answer as Finished };
  };

  it('of the email leaves the user without a link', async () => {
    const { ada, answer } = await linkAfter(`email = '${emailAt(aDomain())}'`);
    expect(answer).toMatchObject(registrationClosed);
    expect(await subjectsOf(ada.id)).toEqual([]);
  });

  it('of the epoch lets the link begin again, with a session that is alive', async () => {
    const { ada, answer } = await linkAfter('auth_epoch = auth_epoch + 1');
    expect(answer.status, answer.text).toBe(200);
    expect(await isAlive(ada.as(answer.body.token))).toBe(true);
  });
});

it('linking by email, and a grant to the user at once, link no operator without the password', async () => {
  const acme = await aProvider({ linkByEmail: true });
  for (let round = 0; round < ROUNDS; round += 1) {
    const ada = await anAccountOf(at(0), emailAt(acme.domain));
    await db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [ada.id]);
    const code = await confirm(acme, aSubject(), ada.email);
    const grant = 'UPDATE users SET operator_since = 1, revision = revision + 1 WHERE id = ?';
    const [finished] = await atOnce<unknown>([
      () => finishAt(at(round), code),
      () => db.query(grant, [ada.id]),
    ]);
    const { status } = finished as Finished;
    expect([200, 409]).toContain(status);
    expect(await subjectsOf(ada.id)).toHaveLength(status === 200 ? 1 : 0);
  }
});

describe('a login of a known user', () => {
  const aLinked = async (acme: AddedProvider & { domain: string }) => {
    const [subject, email] = [aSubject(), emailAt(acme.domain)];
    const { body } = await finishAt(at(0), await confirm(acme, subject, email));
    return { subject, email, userId: body.user.id };
  };
  const sessionOf = (ada: Account | undefined, { status, body }: Finished) =>
    status === 200 ? isAlive(ada!.as(body.token)) : Promise.resolve(false);

  it('opens no session that is alive after the user was unlinked', async () => {
    const acme = await aProvider({ createUsers: true });
    const someone = await anAccountOf(at(0), emailAt(acme.domain));
    for (let round = 0; round < Math.ceil(ROUNDS / 2); round += 1) {
      const { subject, email, userId } = await aLinked(acme);
      const code = await confirm(acme, subject, email);
      const unlink = ['providers', 'unlink', acme.name, userId, '--reason', 'test'];
      const [finished, unlinked] = await atOnce<unknown>([
        () => finishAt(at(round), code),
        () => accounts(installation, unlink),
      ]);
      expect((unlinked as { code: number }).code).toBe(0);
      // The login was first, or found a user whom it may not link without a password.
      expect([200, 409]).toContain((finished as Finished).status);
      expect(await sessionOf(someone, finished as Finished)).toBe(false);
    }
  });

  it('opens no session after the provider was disabled', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const acme = await aProvider({ createUsers: true });
      const { subject, email } = await aLinked(acme);
      const code = await confirm(acme, subject, email);
      const [finished, disabled] = await atOnce<Answer>([
        () => finishAt(at(round), code),
        () => operator.at(at(round + 1)).post(`/api/operators/providers/${acme.name}/disable`, REASON),
      ]);
      expect(disabled!.status, disabled!.text).toBe(200);
      expect([200, 400, 409]).toContain(finished!.status);
      const later = await confirm(acme, subject, email);
      expect(await finishAt(at(round), later)).toMatchObject(invalidProviderLogin);
    }
  });
});
