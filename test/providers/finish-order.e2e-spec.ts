import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { AccountsModule } from '../../src/accounts/accounts.module.js';
import { OwnSecondFactorService } from '../../src/accounts/own-second-factor.js';
import type { UserActor } from '../../src/access/principal.js';
import { AuthController } from '../../src/auth/auth.controller.js';
import { AuthService } from '../../src/auth/auth.service.js';
import { PasswordChangeService } from '../../src/auth/password-change.service.js';
import { IdentitiesRepository } from '../../src/auth/providers/identities.repository.js';
import { ProviderChanges } from '../../src/auth/providers/provider-changes.js';
import { ProviderLoginFinish } from '../../src/auth/providers/provider-login-finish.js';
import { ProviderLoginsService } from '../../src/auth/providers/provider-logins.service.js';
import { Problem } from '../../src/problems/problem.js';
import {
  type AddedProvider,
  addProvider,
  aDomain,
  aSubject,
  challengeOf,
  emailAt,
  insertConfirmed,
  ISSUER,
  LOOPBACK,
} from '../support/at-providers.js';
import { openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { aPassword } from '../support/personas.js';
import { RecordedProvider } from '../support/recorded-provider.js';
import { appCode } from '../support/second-factor.js';
import { decodeToken } from '../support/signing-keys.js';
import { wired } from '../support/wired.js';

const CLIENT = { key: '203.0.113.7', hasLeft: () => false };
const ORIGIN = { requestId: 'request', address: '203.0.113.7', userAgent: null };
const OPERATOR = { kind: 'operator', id: 'test' } as const;

const data = await openDataLayer({ JWT_ISSUER: ISSUER, ARGON2_MEMORY_KIB: '8192', ARGON2_TIME: '1' });
const { db } = data;
const context = await wired(data, AccountsModule);
const part = <T>(type: new (...parts: never[]) => T): T => context.get<T>(type, { strict: false });
const [finishing, identities, changes] = [
  part(ProviderLoginFinish),
  part(IdentitiesRepository),
  part(ProviderChanges),
];
const executed = recordStatements(data.dataSource);
// It is asked only by the callback.
const provider = await RecordedProvider.play('keycloak');
afterAll(async () => {
  provider.stop();
  await data.close();
});
afterEach(() => vi.restoreAllMocks());

type Acme = AddedProvider<RecordedProvider>;

interface Person {
  acme: Acme;
  actor: UserActor;
  email: string;
  password: string;
  subject: string;
}

/** A user with a password, whose email is verified. */
async function aPerson(settings: object = {}): Promise<Person> {
  const domain = aDomain();
  const acme = await addProvider(data, provider, { domains: [domain], ...settings });
  const [email, password] = [emailAt(domain), aPassword()];
  const { token, user } = await part(AuthService).register({ email, password }, CLIENT, ORIGIN);
  await db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [user.id]);
  const sessionId = String(decodeToken(token).claims['sid']);
  const actor = { kind: 'user', id: user.id, sessionId, isDelegated: false, ...ORIGIN } as const;
  return { acme, actor, email, password, subject: aSubject() };
}

async function finish(
  { acme, email, subject }: Pick<Person, 'acme' | 'email' | 'subject'>,
  more: object = {},
): Promise<string> {
  const confirmed = await insertConfirmed(data, acme, { subject, email });
  try {
    await finishing.finish({ ...confirmed, ...more }, CLIENT, ORIGIN);
    return 'success';
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

/** Lets a change commit after the statement that the decision rests on, and before the transaction. */
function after(read: 'findUser' | 'findOwner', change: () => Promise<unknown>): void {
  const find = identities[read].bind(identities) as (...of: unknown[]) => Promise<never>;
  vi.spyOn(identities, read).mockImplementationOnce(async (...of: unknown[]) => {
    const found = await find(...of);
    await change();
    return found;
  });
}

const subjectsOf = async ({ id }: UserActor): Promise<unknown[]> =>
  (await db.query('SELECT subject FROM identities WHERE user_id = ?', [id])).map(({ subject }) => subject);

/** Sessions of logins at the provider that are alive. */
async function aliveOf({ id }: UserActor): Promise<number> {
  const sql = `SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id AND u.auth_epoch = s.auth_epoch
    WHERE u.id = ? AND s.revoked_at IS NULL AND s.provider IS NOT NULL`;
  return (await db.query(sql, [id])).length;
}

async function aSecondFactor({ actor, password }: Person): Promise<() => Promise<unknown>> {
  const factors = part(OwnSecondFactorService);
  const { secret } = await factors.begin(actor, password, CLIENT);
  return () => factors.confirm(actor, appCode(secret));
}

const aNewPassword = async ({ actor, password }: Person) => {
  const change = { currentPassword: password, newPassword: aPassword() };
  return () => part(PasswordChangeService).change(actor, change, CLIENT);
};

type Prepare = (person: Person) => Promise<() => Promise<unknown>>;

describe.each<[change: string, Prepare, byEmail: string, byPassword: string]>([
  [
    'a second factor that is confirmed',
    aSecondFactor,
    'second_factor_code_required',
    'second_factor_code_required',
  ],
  ['a password that is changed', aNewPassword, 'success', 'wrong_password'],
])('%s between the reads of a finish and its transaction', (_, prepare, byEmail, byPassword) => {
  it.each([
    ['by email', { linkByEmail: true }, byEmail],
    ['with the password', {}, byPassword],
  ])('counts for a link %s', async (how, settings, expected) => {
    const person = await aPerson(settings);
    after('findOwner', await prepare(person));
    expect(await finish(person, how === 'by email' ? {} : { password: person.password })).toBe(expected);
    const linked = expected === 'success' ? [person.subject] : [];
    expect(await subjectsOf(person.actor)).toEqual(linked);
    expect(await aliveOf(person.actor)).toBe(linked.length);
  });

  it('leaves no session of a known user alive', async () => {
    const person = await aPerson({ linkByEmail: true });
    expect(await finish(person)).toBe('success');
    after('findUser', await prepare(person));
    expect(await finish(person)).toBe('success');
    expect(await aliveOf(person.actor)).toBe(0);
  });
});

describe('a change of an operator between the reads of a finish and its transaction', () => {
  const endAll = async ({ acme: { name } }: Person): Promise<void> => {
    await changes.disable(name, OPERATOR);
    await changes.endSessions(name, OPERATOR);
  };
  const remove = ({ acme: { name } }: Person) =>
    changes.remove(name, { actor: OPERATOR, force: true, endSessions: true });
  const unlink = ({ acme: { name }, actor }: Person) => changes.unlink(name, actor.id, OPERATOR);

  it.each([
    ['disables the provider and ends sessions', endAll, 'success'],
    ['removes the provider', remove, 'invalid_provider_login'],
    ['unlinks the user', unlink, 'success'],
  ])('%s: no session of a known user is alive', async (_, change, expected) => {
    const person = await aPerson({ linkByEmail: true });
    expect(await finish(person)).toBe('success');
    after('findUser', () => change(person));
    expect(await finish(person)).toBe(expected);
    expect(await aliveOf(person.actor)).toBe(0);
  });

  it.each([
    ['disables', endAll],
    ['removes', remove],
  ])('%s the provider: a login links and creates nobody', async (_, change) => {
    const person = await aPerson({ linkByEmail: true, createUsers: true });
    const code = 'invalid_provider_login';
    after('findOwner', () => change(person));
    expect(await finish(person)).toBe(code);
    expect(await subjectsOf(person.actor)).toEqual([]);

    const other = await aPerson({ createUsers: true });
    const stranger = { acme: other.acme, subject: aSubject(), email: other.email.replace('ada', 'eve') };
    after('findOwner', () => change(other));
    expect(await finish(stranger)).toBe(code);
    expect(await db.query('SELECT id FROM users WHERE email = ?', [stranger.email])).toEqual([]);
  });
});

describe('the statements', () => {
  const during = async <T>(work: () => Promise<T>): Promise<{ result: T; sent: string[] }> => {
    executed.length = 0;
    const result = await work();
    const isOfWork = ({ verb }: { verb: string }): boolean => !['START', 'BEGIN', 'COMMIT'].includes(verb);
    return { result, sent: executed.filter(isOfWork).map(({ sql }) => sql) };
  };
  const like = (...patterns: RegExp[]) => patterns.map((pattern) => expect.stringMatching(pattern) as string);

  it('of a finish of a known user are six: a read, the count, a read, and three in one transaction', async () => {
    const person = await aPerson({ linkByEmail: true });
    expect(await finish(person)).toBe('success');
    const confirmed = await insertConfirmed(data, person.acme, person);
    const { sent } = await during(() => finishing.finish(confirmed, CLIENT, ORIGIN));
    expect(sent).toEqual(
      like(
        /^SELECT [^]* FROM provider_logins /,
        /^UPDATE provider_logins /,
        /^SELECT [^]* FROM identities /,
        /^DELETE FROM provider_logins /,
        /^INSERT INTO sessions /,
        /^INSERT INTO events /,
      ),
    );
  });

  it('of a start are one, and of a callback two', async () => {
    const { acme } = await aPerson();
    const logins = part(ProviderLoginsService);
    const [codeChallenge, codeChallengeMethod] = [challengeOf(aPassword()), 'S256' as const];
    const request = { codeChallenge, codeChallengeMethod, redirectUri: LOOPBACK };
    const started = await during(() => logins.start(acme.name, request, ORIGIN));
    expect(started.sent).toEqual(like(/^SELECT [^]* FROM ["`]providers["`] /));
    const { searchParams } = provider.authorize(started.result.authorizationUrl);
    const { result, sent } = await during(() => logins.receive(acme.name, searchParams, ORIGIN));
    expect(result).toMatchObject({ kind: 'redirect', url: expect.stringContaining('code=') as string });
    expect(sent).toEqual(like(/^SELECT [^]* FROM ["`]providers["`] /, /^INSERT INTO provider_logins /));
  });

  it.each([
    ['no', new Set<string>(), 0],
    ['one', new Set(['logins']), 1],
  ])('of GET /api/auth/config are %s with include=%o', async (_, included, count) => {
    const { sent } = await during(() => part(AuthController).getAuthConfig(included));
    expect(sent).toHaveLength(count);
  });
});
