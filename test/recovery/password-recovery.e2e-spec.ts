import { theOneOf } from '../support/answer.js';
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invalidEmailCode, invalidFields, invalidToken } from '../support/expected.js';
import { instancesInADuel, roundsOfARace } from '../support/engine.js';
import { untilMailsAreDecided } from '../support/mail-server.js';
import { verified } from '../support/inviting.js';
import { insertProvider } from '../support/provider-rows.js';
import { insertApiKey } from '../support/api-keys.js';
import { aServiceClient } from '../support/services.js';
import { startMailing } from '../support/mailing.js';
import { NO_LIMITS } from '../support/service.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import type { Account } from '../support/personas.js';
import { anAccount, anEmail, anOrgOf, anUnknownId, aPassword, isAlive, logIn } from '../support/personas.js';
import { times } from '../support/at-once.js';
import { AccountsModule } from '../../src/accounts/accounts.module.js';
import { PasswordResetService } from '../../src/accounts/password-reset.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { wired } from '../support/wired.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const FORGOT = '/api/auth/password/forgot';
const RESET = '/api/auth/password/reset';

const MAX_TRIES = 10_000_000;

const MAIL_FROM = 'Accounts <no-reply@accounts.example>';
const cluster = await startMailing({ ...NO_LIMITS, TRUST_PROXY: '127.0.0.1', MAIL_FROM }, instancesInADuel);
const { service, mailServer } = cluster;

describe('a forgotten password', () => {
  const forgot = (email: string) => service.anyone.post(FORGOT, { email });
  const reset = (email: string, code: unknown, newPassword = aPassword()) =>
    service.anyone.post(RESET, { email, code, newPassword });
  const login = ({ email }: Account, password: string) => logIn(service, { email, password });

  async function aMailedCode({ email }: Pick<Account, 'email'>): Promise<string> {
    const before = mailServer.to(email).length;
    expect(await forgot(email)).toMatchObject({ status: 202, body: { ok: true } });
    const { code } = await mailServer.next(email, before + 1);
    service.installation.secrets.note(code);
    service.installation.secrets.note(code!.replace('-', ''));
    return code!;
  }

  it('is set anew with the code from the mail; every session ends, the e-mail is verified, a notice is mailed', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aMailedCode(ada);
    const known = await knownEvents(service.db);
    const password = aPassword();
    expect(await reset(ada.email, code, password)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await ada.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(ada, ada.password)).status).toBe(401);
    expect((await login(ada, password)).status).toBe(200);
    const about = { actor_type: 'system', actor_id: null, org_id: null, user_id: ada.id, reason: null };
    expect((await eventsSince(service.db, known)).filter(({ type }) => type !== 'session.started')).toEqual([
      { ...about, type: 'account.email_verified', data: {} },
      { ...about, type: 'account.password_changed', data: {} },
      { ...about, type: 'session.ended', data: { reason: 'password_changed', all: true, epoch: 1 } },
    ]);
    const sql = 'SELECT email_verified_at, password_changed_at, revision FROM users WHERE id = ?';
    const aTime = expect.any(Number);
    const changed = { email_verified_at: aTime, password_changed_at: aTime, revision: 3 };
    expect(await service.db.query(sql, [ada.id])).toEqual([changed]);
    const notice = await mailServer.next(ada.email, 2);
    expect(notice).toMatchObject({ subject: 'Your password was changed', code: undefined });
    expect(notice.text).toContain(ada.email);
  });

  it('revokes the API keys of a user whose email was never verified, those of organizations too', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const billing = await aServiceClient(service.db, ['keys']);
    const org = await anOrgOf(ada);
    const made = [
      await insertApiKey(service, ada, billing),
      await insertApiKey(service, ada, billing, { orgId: org.id }),
      await insertApiKey(service, grace, billing),
    ];
    const left = async () =>
      (await service.db.query('SELECT id FROM api_keys WHERE audience = ?', [billing.name])).map(
        ({ id }) => id,
      );
    const revoked = async () =>
      (await eventsSince(service.db, known)).filter(({ type }) => type === 'key.revoked');
    const [code, known] = [await aMailedCode(ada), await knownEvents(service.db)];
    expect((await reset(ada.email, code)).status).toBe(200);
    expect(await left()).toEqual([made[2]!.id]);
    const [about, reason] = [
      { actor_type: 'system', actor_id: null, org_id: null, user_id: ada.id },
      'mailbox_reset',
    ];
    expect(await revoked()).toMatchObject(
      made.slice(0, 2).map(({ id }) => Object.assign({ data: { keyId: id, reason } }, about)),
    );
    const revisions = await service.db.query(
      "SELECT type, user_revision FROM events WHERE user_id = ? AND type IN ('account.email_verified', 'key.revoked')",
      [ada.id],
    );
    expect(new Set(revisions.map(({ user_revision: revision }) => revision))).toEqual(new Set([3]));

    // She had proven the email before, so the key is hers.
    await verified(service.db, grace);
    expect((await reset(grace.email, await aMailedCode(grace))).status).toBe(200);
    expect(await left()).toEqual([made[2]!.id]);
    expect(await revoked()).toHaveLength(2);
  });

  it('unlinks a user whose email was never verified from every provider, and no other user', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    await verified(service.db, grace);
    const { id, name: provider } = await insertProvider(service.db, { users: [ada.id, grace.id] });
    const known = await knownEvents(service.db);
    for (const user of [ada, grace])
      expect((await reset(user.email, await aMailedCode(user))).status).toBe(200);
    const sql = 'SELECT user_id FROM identities WHERE provider_id = ?';
    expect(await service.db.query(sql, [id])).toEqual([{ user_id: grace.id }]);
    const unlinked = (await eventsSince(service.db, known)).filter(({ type }) => type.endsWith('unlinked'));
    expect(unlinked).toMatchObject([
      { type: 'account.identity_unlinked', actor_type: 'system', user_id: ada.id, data: { provider } },
    ]);
  });

  it('takes the code however it is typed', async () => {
    const ada = await anAccount(service);
    const code = await aMailedCode(ada);
    const typed = ` ${code.toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l').replace('-', ' ')} `;
    expect((await reset(ada.email, typed)).status).toBe(200);
  });

  it('takes no code that a newer one has replaced', async () => {
    const ada = await anAccount(service);
    const first = await aMailedCode(ada);
    const second = await aMailedCode(ada);
    expect(await reset(ada.email, first)).toMatchObject(invalidEmailCode);
    expect((await reset(ada.email, second)).status).toBe(200);
  });

  it('takes no code from before the user changed the password', async () => {
    const ada = await anAccount(service);
    const code = await aMailedCode(ada);
    const [chosen, stolen] = [aPassword(), aPassword()];
    const change = { currentPassword: ada.password, newPassword: chosen };
    expect((await ada.put('/api/me/password', change)).status).toBe(200);
    expect(await reset(ada.email, code, stolen)).toMatchObject(invalidEmailCode);
    expect((await login(ada, stolen)).status).toBe(401);
    expect((await login(ada, chosen)).status).toBe(200);
  });

  it('takes no code after its time', async () => {
    const ada = await anAccount(service);
    const code = await aMailedCode(ada);
    const sql = 'UPDATE email_codes SET expires_at = ? WHERE subject = ?';
    await service.db.query(sql, [Date.now(), ada.email]);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
  });

  it('takes no code of somebody else, none of another purpose, and none of a disabled account', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const code = await aMailedCode(ada);
    await aMailedCode(grace);
    expect(await reset(grace.email, code)).toMatchObject(invalidEmailCode);
    expect(await ada.post('/api/me/email/verify', { code })).toMatchObject(invalidEmailCode);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
  });

  const setTries = ({ email }: Account, tries: number) =>
    service.db.query('UPDATE email_codes SET tries = ? WHERE subject = ?', [tries, email]);

  it('takes the right code after 60 wrong ones of strangers, up to the 10,000,000th attempt', async () => {
    const ada = await anAccount(service);
    const code = await aMailedCode(ada);
    for (let tries = 0; tries < 60; tries += 1)
      expect(await reset(ada.email, '0000000000')).toMatchObject(invalidEmailCode);
    await setTries(ada, MAX_TRIES);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
    await setTries(ada, MAX_TRIES - 1);
    expect((await reset(ada.email, code)).status).toBe(200);
  });

  it('takes a new code however often strangers tried the one before', async () => {
    const ada = await anAccount(service);
    await aMailedCode(ada);
    await setTries(ada, MAX_TRIES);
    const renewed = await aMailedCode(ada);
    expect((await reset(ada.email, renewed)).status).toBe(200);
  });

  it('mails nothing to unknown e-mails and disabled accounts, and answers the same', async () => {
    const [known, disabled] = [await anAccount(service), await anAccount(service)];
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [disabled.id]);
    const unknown = anEmail();
    const answers = [await forgot(unknown), await forgot(disabled.email), await forgot(known.email)];
    for (const { status, text, headers } of answers) {
      expect({ status, text }).toEqual({ status: 202, text: '{"ok":true}' });
      expect([...headers.keys()]).toEqual([...answers[0]!.headers.keys()]);
    }
    await mailServer.next(known.email);
    await untilMailsAreDecided(service);
    expect([...mailServer.to(unknown), ...mailServer.to(disabled.email)]).toEqual([]);
    // The place of a code stays, so that the next request takes as long.
    const sql = 'SELECT subject FROM email_codes WHERE subject IN (?, ?)';
    expect(await service.db.query(sql, [unknown, disabled.email])).toHaveLength(2);
  });

  const untilDecided = ({ email }: Account) => untilMailsAreDecided(service, email);
  const forgotFrom = (address: string, { email }: Account) =>
    service.anyone.with({ 'x-forwarded-for': address }).post(FORGOT, { email });

  /** As if strangers had got so many codes mailed there, the last of them so many minutes ago. */
  async function strangersAsked({ email }: Account, count: number, minutesAgo: number): Promise<void> {
    const hex = (Date.now() - minutesAgo * 60_000).toString(16).padStart(12, '0');
    for (let number = 0; number < count; number += 1) {
      const random = String(Math.floor(Math.random() * 1e11)).padStart(12, '0');
      await service.db.query(
        `INSERT INTO mails (id, kind, recipient, code_id, sender_id, state, created_at, next_attempt_at)
          VALUES (?, 'password_reset', ?, 'x', ?, 'sent', 1, 1)`,
        [`${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${random}`, email, `198.51.100.${number}`],
      );
    }
  }

  it('mails 5 codes a day for one address of a client, and the last one goes on working', async () => {
    const ada = await anAccount(service);
    let code = '';
    for (let sent = 0; sent < 5; sent += 1) code = await aMailedCode(ada);
    expect((await forgot(ada.email)).status).toBe(202);
    await untilDecided(ada);
    expect(mailServer.to(ada.email)).toHaveLength(5);
    expect((await reset(ada.email, code)).status).toBe(200);
  });

  it('mails a code to the owner, however many strangers ask: to a known address at once', async () => {
    const ada = await anAccount(service);
    await strangersAsked(ada, 40, 1);
    // She registered from there.
    expect((await reset(ada.email, await aMailedCode(ada))).status).toBe(200);
  });

  it('and elsewhere once the last code is 15 minutes old, so that one is valid at any time', async () => {
    const [early, late] = [await anAccount(service), await anAccount(service)];
    await strangersAsked(early, 10, 14);
    await strangersAsked(late, 40, 16);
    await forgotFrom('203.0.113.7', early);
    await forgotFrom('203.0.113.7', late);
    expect((await reset(late.email, (await mailServer.next(late.email)).code)).status).toBe(200);
    await untilDecided(early);
    expect(mailServer.to(early.email)).toEqual([]);
  });

  it('makes 10 codes for any number of strangers at the same moment, and still one for the owner', async () => {
    const ada = await anAccount(service);
    const strangers = Array.from({ length: 30 }, (_, number) => `203.0.113.${number}`);
    await Promise.all(strangers.map((address) => forgotFrom(address, ada)));
    await untilDecided(ada);
    // Of them, those that a newer code had replaced were not mailed.
    const sql = 'SELECT id FROM mails WHERE recipient = ? AND code_id IS NOT NULL';
    expect((await service.db.query(sql, [ada.email])).length).toBeLessThanOrEqual(10);
    expect(mailServer.to(ada.email).length).toBeGreaterThan(0);
    expect((await reset(ada.email, await aMailedCode(ada))).status).toBe(200);
  });

  it('counts the time of a code from the request, keeps no client address of a deleted account', async () => {
    const ada = await anAccount(service);
    const expiresAt = Date.now() + 300_000;
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, sender_id, state, created_at, next_attempt_at, expires_at)
        VALUES (?, 'password_reset', ?, '192.0.2.1', 'waiting', ?, 0, ?)`,
      [randomUUIDv7(), ada.email, Date.now() - 600_000, expiresAt],
    );
    await mailServer.next(ada.email);
    const place = async () => {
      const sql = 'SELECT expires_at, purge_at FROM email_codes WHERE subject = ?';
      return (await service.db.query(sql, [ada.email]))[0]!;
    };
    expect(await place()).toMatchObject({ expires_at: expiresAt });

    const before = Date.now();
    await aMailedCode(ada);
    const { expires_at: fresh, purge_at: purgeAt } = await place();
    const minutes = (Number(fresh) - before) / 60_000;
    expect(minutes).toBeGreaterThanOrEqual(15);
    expect(minutes).toBeLessThan(30);
    expect(Number(purgeAt)).toBeGreaterThan(Number(fresh));

    await untilDecided(ada);
    expect((await ada.delete('/api/me', { password: ada.password })).status).toBe(200);
    const sql = 'SELECT DISTINCT sender_id FROM mails WHERE recipient = ?';
    expect(await service.db.query(sql, [ada.email])).toEqual([{ sender_id: null }]);
  });

  const RIGHT = { email: 'ada@example.com', code: '0000000000', newPassword: 'correct horse battery' };
  it.each([
    [{}, ['email', 'code', 'newPassword']],
    [{ ...RIGHT, code: 0 }, ['code']],
    [{ ...RIGHT, code: ['0000000000'] }, ['code']],
    [{ ...RIGHT, email: { $gt: '' } }, ['email']],
    [{ ...RIGHT, newPassword: 'short' }, ['newPassword']],
    [{ ...RIGHT, newPassword: 'ada@example.com' }, ['newPassword']],
    [{ ...RIGHT, newPassword: 'too few' }, ['newPassword']],
  ])('refuses %j', async (body, fields) => {
    expect(await service.anyone.post(RESET, body)).toMatchObject(invalidFields(...fields));
  });

  it('answers what is no code as any wrong one', async () => {
    const ada = await anAccount(service);
    await aMailedCode(ada);
    for (const code of ['', '0000', 'x'.repeat(10_000), '0000000000', 'no code', "' OR 1=1 --", '\u0000']) {
      const answers = [await reset(ada.email, code), await reset(anEmail(), code)];
      for (const answer of answers) expect(answer).toMatchObject(invalidEmailCode);
      const [one, other] = answers.map(({ text }) => text.replace(/"requestId":"[^"]+"/, ''));
      expect(one).toBe(other);
    }
  });
});

const ROUNDS = roundsOfARace(8);

describe('resets at the same moment', () => {
  const at = (number: number) => cluster.instances[number % cluster.instances.length]!;
  const reset = (number: number, email: string, code: string) =>
    at(number).anyone.post('/api/auth/password/reset', { email, code, newPassword: aPassword() });

  /** The emails leave together: the worker looks for them once a second. */
  async function usersWithCodes(count: number): Promise<{ user: Account; code: string }[]> {
    const users: Account[] = [];
    while (users.length < count) users.push(await anAccount(at(users.length)));
    for (const { email } of users) await service.anyone.post(FORGOT, { email });
    return Promise.all(
      users.map(async (user) => ({ user, code: (await mailServer.next(user.email)).code! })),
    );
  }

  it('a code works for one of many', async () => {
    for (const { user, code } of await usersWithCodes(ROUNDS)) {
      const { email, id } = user;
      const answers = await Promise.all(times(12, (number) => reset(number, email, code)));
      expect(theOneOf(answers, 200, invalidEmailCode)).toBeDefined();
      const sql = "SELECT id FROM events WHERE user_id = ? AND type = 'account.password_changed'";
      expect(await cluster.db.query(sql, [id])).toHaveLength(1);
    }
  });

  it('wrong codes are bounded', async () => {
    const [{ user, code }] = (await usersWithCodes(1)) as [{ user: Account; code: string }];
    const { email } = user;
    await cluster.db.query('UPDATE email_codes SET tries = ? WHERE subject = ?', [MAX_TRIES - 50, email]);
    // In parts: more writes to one row at once would end in 503, which counts no try.
    let counted = 0;
    while (counted < 50) {
      const part = times(4, (number) => reset(number, email, '0000000000'));
      counted += (await Promise.all(part)).filter(({ status }) => status === 400).length;
    }
    expect(await reset(0, email, code)).toMatchObject(invalidEmailCode);
  });

  it('a change of e-mail and additions to organizations leave one e-mail everywhere', async () => {
    const moves: { user: Account; email: string }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const move = { user: await anAccount(at(round), 'moving'), email: anEmail('new') };
      await move.user.put('/api/me/email', { email: move.email, password: move.user.password });
      moves.push(move);
    }
    const owner = await anAccount(at(0), 'owner');
    for (const { user, email } of moves) {
      const orgs = await Promise.all(['One', 'Two', 'Three'].map((name) => anOrgOf(owner, name)));
      const { code } = await mailServer.next(email);
      const [changed, ...added] = await Promise.all([
        user.post('/api/me/email/verify', { code }),
        ...orgs.map((org, number) =>
          owner.at(at(number)).post(`/api/orgs/${org.id}/members`, { email: user.email, role: 'member' }),
        ),
      ]);
      expect(changed.status).toBe(200);
      for (const { status } of added) expect([201, 404]).toContain(status);
      const rows = await cluster.db.query('SELECT email FROM members WHERE user_id = ?', [user.id]);
      expect(rows).toEqual(added.filter(({ status }) => status === 201).map(() => ({ email })));
    }
  });

  it('of a reset and logins with the old password no old session is left', async () => {
    for (const [round, { user, code }] of (await usersWithCodes(ROUNDS)).entries()) {
      const [answer, ...logins] = await Promise.all([
        reset(round, user.email, code),
        ...times(4, (number) => logIn(at(number), user)),
      ]);
      expect(answer.status).toBe(200);
      for (const login of logins.filter(({ status }) => status === 200))
        expect(await isAlive(user.as(login.body.token))).toBe(false);
    }
  });
});

const REQUESTS = 1000;
/** What one search of the outbox examines, and how many requests of one sender for an email it leaves. */
const EXAMINED = 200;
const LEFT = 5;

const CLIENT = { key: 'test', hasLeft: () => false };
const ORIGIN = { requestId: 'test', address: '127.0.0.1' };

describe('for an unknown e-mail the database does the same', () => {
  let data: DataLayer;
  beforeAll(async () => {
    data = await openDataLayer({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM });
  });
  afterAll(() => data.close());

  it('statements with the same results, when a code is asked for and when a wrong one is typed', async () => {
    const known = anEmail('known');
    const row = [anUnknownId(), known, 'none', 1];
    await data.db.query('INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, ?, ?)', row);
    const resets = (await wired(data, AccountsModule)).get(PasswordResetService);
    const executed = recordStatements(data.dataSource);
    const during = async (work: () => Promise<unknown>): Promise<string[]> => {
      executed.splice(0);
      await work().catch(() => undefined);
      return executed.map(({ verb, rows }) => `${verb} ${rows}`);
    };
    const reset = (email: string) =>
      resets.reset({ email, code: '0000000000', newPassword: aPassword() }, CLIENT, ORIGIN);

    const runs: string[][][] = [];
    for (const [email, address] of [
      [known, '192.0.2.1'],
      [anEmail('unknown'), '192.0.2.2'],
    ] as const) {
      const ask = (of: string) => resets.ask(of, { ...ORIGIN, address });
      const run: string[][] = [];
      for (const step of [reset, ask, reset, ask, reset]) run.push(await during(() => step(email)));
      runs.push(run);
    }

    expect(runs[0]![1]!.length).toBeGreaterThan(2);
    expect(runs[1]).toEqual(runs[0]);
  });
});

describe('a flood of requests for a new password', () => {
  /** As requests leave them; they have waited for longer than a code lives. */
  async function waited(recipients: string[]): Promise<void> {
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, expires_at)
        VALUES ${recipients.map(() => "(?, 'password_reset', ?, 'waiting', 1, 1, 2)").join()}`,
      recipients.flatMap((recipient) => [randomUUIDv7(), recipient]),
    );
  }
  const countOf = async (where: string): Promise<number> =>
    Number((await service.db.query(`SELECT COUNT(*) AS n FROM mails WHERE ${where}`))[0]!['n']);
  const untilDecided = (): Promise<unknown> =>
    waitFor('no mail waits', hangTimeoutMs(), async () => (await countOf("state = 'waiting'")) === 0);

  it('leaves no row for e-mails without an account, however late the worker comes to them', async () => {
    const ada = await anAccount(service);
    await waited(times(REQUESTS, () => anEmail('unknown')));
    await service.anyone.post('/api/auth/password/forgot', { email: ada.email });
    expect((await mailServer.next(ada.email)).code).toBeDefined();
    await untilDecided();
    expect(await countOf("recipient LIKE 'unknown-%'")).toBe(0);
    expect(mailServer.mails.filter(({ to }) => to.startsWith('unknown-'))).toEqual([]);
    expect(mailServer.to(ada.email)).toHaveLength(1);
  });

  it('leaves few rows for one e-mail with an account', async () => {
    const ada = await anAccount(service);
    await waited(times(REQUESTS, () => ada.email));
    await untilDecided();
    expect(await countOf(`recipient = '${ada.email}'`)).toBeLessThanOrEqual(
      LEFT * Math.ceil(REQUESTS / (EXAMINED - LEFT)),
    );
  });
});
