import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuard } from '../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { bodyOf } from '../support/answer.js';
import { times } from '../support/at-once.js';
import {
  emailNotVerified,
  invalidCode,
  invalidEmailCode,
  invalidFields,
  invalidInvitationCode,
  rateLimited,
  registrationClosed,
  userNotFound,
} from '../support/expected.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { anInstallation } from '../support/installation.js';
import { anInvitation, aVerifiedAccount, received, verified } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { anOperator } from '../support/operators.js';
import { addMember } from '../support/org-members.js';
import {
  type Account,
  aCode,
  anAccount,
  anEmail,
  anOrgOf,
  aPassword,
  byCode,
  exchange,
  logIn,
  type Org,
} from '../support/personas.js';
import { aRefreshableLogin, refresh } from '../support/refreshing.js';
import { type Instance, NO_LIMITS, startOwnService } from '../support/service.js';
import { aBoundToken, aServiceCaller, setCall, tokenRequest } from '../support/services.js';
import { insertApiKey } from '../support/api-keys.js';

const CONFIG = '/api/auth/config';
const RESET = '/api/auth/password/reset';
const DAY_MS = 86_400_000;

let mailServer: MailServer;
/** It restarts with other settings, as seldom as these allow; the database stays. */
let service: Instance;
let usersAtFirst: object[];
/** They registered before there were any restrictions. */
let owner: Account;
let operator: Account;
let org: Org;
/** A code for the change of an email to another domain. */
let early: { ada: Account; code: string | undefined };

const start = (env: Record<string, string> = {}) =>
  startOwnService({ installation: service.installation, env: { ...NO_LIMITS, ...mailServer.env, ...env } });

async function restart(env?: Record<string, string>): Promise<void> {
  await service.stop();
  service = await start(env);
}

beforeAll(async () => {
  mailServer = await MailServer.start();
  service = await startOwnService({
    installation: await anInstallation(),
    env: { ...NO_LIMITS, ...mailServer.env },
  });
  usersAtFirst = await service.db.query('SELECT id FROM users');
  owner = await aVerifiedAccount(service, 'owner');
  org = await anOrgOf(owner);
  operator = await anOperator(service);
  const ada = await anAccount(service, 'ada');
  const foreign = anEmailElsewhere('ada');
  await bodyOf(requestChange(ada, foreign), 202);
  early = { ada, code: (await mailServer.next(foreign)).code };
});
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
  await service.installation.remove();
});

const register = (email: string, more: object = {}) =>
  service.anyone.post<{ detail?: string }>('/api/auth/register', { email, password: aPassword(), ...more });
const anEmailElsewhere = (name: string): string => `${anEmail(name)}.evil.example`;
const requestChange = (by: Account, email: string) =>
  by.at(service).put('/api/me/email', { email, password: by.password });
const unverify = ({ id }: Account) =>
  service.db.query('UPDATE users SET email_verified_at = NULL WHERE id = ?', [id]);

describe('by default', () => {
  it('there are no accounts at first', () => {
    expect(usersAtFirst).toEqual([]);
  });

  it('shows clients how it is configured, which may be cached', async () => {
    const { headers, body } = await service.anyone.get(CONFIG);
    expect(body).toEqual({
      registration: 'open',
      emailVerification: 'optional',
      passwordMinLength: 8,
      emailEnabled: true,
      issuer: 'accounts',
      tokenAudience: 'accounts',
    });
    expect(headers.get('cache-control')).toBe('public, max-age=60');
  });
});

describe('mode closed', () => {
  /** Registrations count for each email. */
  const CLOSED = {
    REGISTRATION: 'closed',
    REGISTRATION_DOMAINS: 'example.com',
    RATE_LIMIT_REGISTER: '3/1h',
  };

  it('begins with registrations that are whole or did not happen, after an instance was killed', async () => {
    const emails = times(40, () => anEmail('racer'));
    const sent = emails.map((email) => register(email).catch(() => undefined));
    await Promise.any(sent.map(async (answer) => expect((await answer)?.status).toBe(201)));
    await service.kill();
    const answers = await Promise.all(sent);
    service = await start(CLOSED);
    expect(service.logs.join('\n')).toContain('REGISTRATION_DOMAINS: ');

    for (const email of emails) expect(await register(email)).toMatchObject(registrationClosed);
    const rows = await service.db.query(
      `SELECT u.email, (SELECT COUNT(*) FROM sessions s WHERE s.user_id = u.id) AS sessions,
         (SELECT COUNT(*) FROM events e WHERE e.user_id = u.id) AS events
       FROM users u WHERE u.email LIKE 'racer-%'`,
    );
    for (const { sessions, events } of rows) expect([Number(sessions), Number(events)]).toEqual([1, 2]);
    const created = new Set(rows.map(({ email }) => email));
    const acknowledged = emails.filter((_, index) => answers[index]?.status === 201);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(acknowledged.filter((email) => !created.has(email))).toEqual([]);
  });

  it('is refused, with an invitation too, and each request counts', async () => {
    const email = anEmail('joan');
    const { code: invitationCode } = await anInvitation(owner.at(service), org, { email, role: 'member' });
    for (const more of [{ invitationCode }, {}, { invitationCode: '00000-00000' }])
      expect(await register(email, more)).toMatchObject(registrationClosed);
    expect(await register(email)).toMatchObject(rateLimited);
    expect(await register(owner.email)).toMatchObject(registrationClosed);
    expect(await service.anyone.get(CONFIG)).toMatchObject({ body: { registration: 'closed' } });
  });

  describe('a user whom an operator creates', () => {
    const create = async (email = anEmail('grace')): Promise<{ email: string; code: string | undefined }> => {
      const created = await operator
        .at(service)
        .post('/api/operators/users', { email, name: 'Grace Hopper', reason: 'a test' });
      expect(created).toMatchObject({
        status: 201,
        body: { user: { email, name: 'Grace Hopper', emailVerified: false, passwordChangedAt: null } },
      });
      expect(Object.keys(created.body as object)).toEqual(['user']);
      return { email, code: (await mailServer.next(email)).code };
    };
    const set = ({ email, code }: { email: string; code: string | undefined }, newPassword = aPassword()) =>
      service.anyone.post(RESET, { email, code, newPassword });

    it('sets a password once by the emailed code, which verifies the email, whatever the mode', async () => {
      const known = await knownEvents(service.db);
      const grace = await create(anEmailElsewhere('grace'));
      expect(await eventsSince(service.db, known)).toMatchObject([
        {
          type: 'account.registered',
          actor_type: 'operator',
          actor_id: operator.id,
          data: { via: 'operator' },
          reason: 'a test',
        },
      ]);
      expect(mailServer.to(grace.email)).toMatchObject([
        { subject: expect.stringContaining('Set your password') as string },
      ]);

      const { email } = grace;
      const password = aPassword();
      const unknown = await logIn(service, { email: anEmail(), password });
      const { requestId: _, ...body } = unknown.body as unknown as { requestId: string };
      expect(await logIn(service, { email, password })).toMatchObject({ status: 401, body });
      const sql = 'SELECT password_hash AS hash, email_verified_at AS verifiedAt FROM users WHERE email = ?';
      expect(await service.db.query(sql, [email])).toEqual([{ hash: '!', verifiedAt: null }]);

      expect((await set(grace, password)).status).toBe(200);
      expect(await set(grace)).toMatchObject(invalidEmailCode);
      expect((await logIn(service, { email, password })).status).toBe(200);
      expect((await service.db.query(sql, [email]))[0]!['verifiedAt']).not.toBeNull();
    });

    it('cannot use the code after a reset, another email, the end of all sessions, or seven days', async () => {
      const byOperator = (path: string) => async (email: string) => {
        const [row] = await service.db.query('SELECT id FROM users WHERE email = ?', [email]);
        const at = `/api/operators/users/${String(row!['id'])}/${path}`;
        expect((await operator.at(service).post(at, { reason: 'a test' })).status).toBe(200);
      };
      const reset = async (email: string, count = 2): Promise<unknown> => {
        await service.anyone.post('/api/auth/password/forgot', { email });
        return mailServer.next(email, count);
      };
      type Happen = (email: string) => Promise<unknown>;
      const CASES: [what: string, daysLater: number, happen: Happen | undefined, status: number][] = [
        ['six days later', 6, undefined, 200],
        ['with a reset code on its way', 0, reset, 200],
        ['seven days later', 7, undefined, 400],
        ['seven days later, with a reset code on its way', 7, reset, 400],
        [
          'after a reset',
          0,
          async (email) => {
            const { code } = (await reset(email)) as { code: string };
            expect((await set({ email, code })).status).toBe(200);
          },
          400,
        ],
        ['after the end of all sessions', 0, byOperator('end-sessions'), 400],
        ['while disabled', 0, byOperator('disable'), 400],
        ['after deletion', 0, byOperator('delete'), 400],
      ];
      // Emails leave once a second, so the cases wait for them at once.
      const users = await Promise.all(CASES.map(() => create()));
      const later = 'UPDATE email_codes SET expires_at = expires_at - ? WHERE subject = ?';
      for (const [index, { email }] of users.entries())
        await service.db.query(later, [CASES[index]![1] * DAY_MS, email]);
      await Promise.all(
        CASES.map(async ([what, , happen, status], index) => {
          const grace = users[index]!;
          await happen?.(grace.email);
          expect((await set(grace)).status, what).toBe(status);
        }),
      );
      const [row] = await service.db.query(
        'SELECT MIN(purge_at - expires_at) AS slack FROM email_codes WHERE purpose = ?',
        ['password_setup'],
      );
      expect(Number(row!['slack'])).toBeGreaterThanOrEqual(0);
    });
  });
});

describe('mode invited', () => {
  beforeAll(() => restart({ REGISTRATION: 'invited' }));

  it('needs the code of an invitation to this email', async () => {
    const email = anEmail('joan');
    const { code } = await anInvitation(owner.at(service), org, { email, role: 'member' });

    const refusals = [await register(email), await register(owner.email), await register(anEmail())];
    for (const answer of refusals) expect(answer).toMatchObject(registrationClosed);
    expect(new Set(refusals.map(({ body }) => body.detail)).size).toBe(1);
    expect(await register(email, { invitationCode: '00000-00000' })).toMatchObject(invalidInvitationCode);
    expect(await register(anEmail(), { invitationCode: code })).toMatchObject(invalidInvitationCode);
    expect((await register(email, { invitationCode: code })).status).toBe(201);
  });
});

describe('with restricted emails', () => {
  beforeAll(() =>
    restart({
      REGISTRATION_DOMAINS: ' Example.com,bücher.example ,,',
      EMAIL_VERIFICATION: 'required',
      PASSWORD_MIN_LENGTH: '15',
      ADD_MEMBERS: 'verified',
    }),
  );

  describe('REGISTRATION_DOMAINS', () => {
    it('takes the listed domains only, in their normal form, and no subdomain of them', async () => {
      expect(service.logs.join('\n')).not.toContain('REGISTRATION_DOMAINS: ');
      const [local] = anEmail('ada').split('@');
      const cases = [
        ['example.com', 201],
        ['EXAMPLE.com', 409],
        ['xn--bcher-kva.example', 201],
        ['BÜCHER.example', 409],
        ['sub.example.com', 403],
        ['example.com.evil.example', 403],
        ['notexample.com', 403],
        ['example.com.', 400],
      ] as const;
      for (const [domain, status] of cases) {
        const answer = await register(`${local}@${domain}`);
        expect(answer.status, `${domain} ${answer.text}`).toBe(status);
      }
      const email = `${local}@evil.example`;
      const { code } = await anInvitation(owner.at(service), org, { email, role: 'member' });
      expect(await register(email, { invitationCode: code })).toMatchObject(registrationClosed);
    });

    it('refuses a change to an email of another domain, also with a code from before', async () => {
      const { ada, code } = early;
      const late = anEmailElsewhere('late');
      const change = (email: string) => requestChange(ada, email);
      expect(await change(late)).toMatchObject(registrationClosed);
      expect(await ada.at(service).post('/api/me/email/verify', { code })).toMatchObject(registrationClosed);
      expect(await ada.at(service).get('/api/me')).toMatchObject({ body: { user: { email: ada.email } } });
      // The request for the current email only cancels a change.
      await service.db.query('UPDATE users SET email = ? WHERE id = ?', [late, ada.id]);
      expect((await change(late)).status).toBe(202);
      expect((await change(anEmail())).status).toBe(202);
    });
  });

  it('PASSWORD_MIN_LENGTH requires longer passwords', async () => {
    const attempt = (password: string) => register(anEmail(), { password });
    expect(await attempt('harbor lantern')).toMatchObject(invalidFields('password'));
    expect((await attempt('harbor lanterns')).status).toBe(201);
  });

  it('ADD_MEMBERS=verified adds an unverified account as little as an unknown one', async () => {
    const admin = owner.at(service);
    const guest = await anAccount(service);
    const unknown = await addMember(admin, org, { email: anEmail() });
    const unverified = await addMember(admin, org, guest);
    expect(unverified).toMatchObject(userNotFound);
    const without = ({ body }: typeof unknown) => ({ ...(body as object), requestId: '' });
    expect(without(unverified)).toEqual(without(unknown));
    await verified(service.db, guest);
    expect((await addMember(admin, org, guest)).status).toBe(201);
    expect(await received(guest)).toEqual([]);
  });

  /** `test/http/access.e2e-spec.ts` asks every route. */
  describe('EMAIL_VERIFICATION=required', () => {
    it('opens everything when the email is verified, for delegated sessions too', async () => {
      const ada = await anAccount(service, 'ada');
      expect(await ada.post('/api/auth/code')).toMatchObject(emailNotVerified);
      expect((await ada.post('/api/me/email/verification')).status).toBe(202);
      const { code } = await mailServer.next(ada.email);
      expect((await ada.post('/api/me/email/verify', { code })).status).toBe(200);
      const delegated = await byCode(service, ada);
      expect((await delegated.get('/api/me/orgs')).status).toBe(200);
      await unverify(ada);
      expect(await delegated.get('/api/me/orgs')).toMatchObject(emailNotVerified);
    });

    it('lets services have no token or key of an unverified user, while refresh keeps working', async () => {
      const ada = await aVerifiedAccount(service, 'ada');
      const billing = await aServiceCaller(service, 'introspect', 'keys');
      const ledger = await aServiceCaller(service, 'keys');
      await setCall(service.db, billing, ledger);
      const { key } = await insertApiKey(service, ada, billing);
      const exchangeKey = () => billing.requestToken(tokenRequest(ledger.name, key));
      const tokens = [ada.token, await aBoundToken(billing, ada), key];
      const isActive = async (token: string): Promise<boolean> =>
        (await bodyOf(billing.introspect<{ active: boolean }>({ token }))).active;
      for (const token of tokens) expect(await isActive(token)).toBe(true);
      const code = await aCode(ada);
      const { refreshToken } = await aRefreshableLogin(service, ada);

      await unverify(ada);
      for (const token of tokens) expect(await isActive(token)).toBe(false);
      expect((await exchangeKey()).body).toMatchObject({ code: 'invalid_subject_token' });
      expect(await exchange(service, code)).toMatchObject(invalidCode);
      expect((await refresh(service, refreshToken)).status).toBe(200);

      await service.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [ada.id]);
      for (const token of tokens) expect(await isActive(token)).toBe(true);
      expect((await exchangeKey()).status).toBe(200);
      expect((await exchange(service, code)).status).toBe(200);
    });

    it('lets the guard of a service refuse a token until its user has verified the email', async () => {
      const { name, secret } = await aServiceCaller(service, 'introspect', 'memberships', 'events');
      const guard = createGuard({
        issuer: 'accounts',
        audience: 'accounts',
        baseUrl: service.url,
        credentials: { name, secret },
      });
      const ada = await anAccount(service, 'ada');
      const isAdmitted = async () => (await guard.authorize(`Bearer ${ada.token}`)).ok;
      expect(await isAdmitted()).toBe(false);
      await ada.post('/api/me/email/verification');
      const { code } = await mailServer.next(ada.email);
      expect((await ada.post('/api/me/email/verify', { code })).status).toBe(200);
      await waitFor('the feed tells the guard', hangTimeoutMs(), isAdmitted);
      await guard.close();
    });

    it('is met by a password reset and by an emailed invitation code', async () => {
      const ada = await anAccount(service, 'ada');
      await service.anyone.post('/api/auth/password/forgot', { email: ada.email });
      const { code } = await mailServer.next(ada.email);
      const password = aPassword();
      expect(
        (await service.anyone.post(RESET, { email: ada.email, code, newPassword: password })).status,
      ).toBe(200);
      const { token } = await bodyOf(logIn(service, { email: ada.email, password }));
      await service.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [ada.id]);
      const own = await anOrgOf(ada.as(token));
      const email = anEmail('joan');
      await ada.as(token).post(`/api/orgs/${own.id}/invitations`, { email, role: 'member' });
      const invitationCode = (await mailServer.next(email)).code;
      const joined = await bodyOf(register(email, { invitationCode }), 201);
      const { token: tokenOfJoan } = joined as unknown as { token: string };
      expect((await service.anyone.withToken(tokenOfJoan).post('/api/auth/code')).status).toBe(201);
    });
  });
});
