import { beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import {
  aJwt,
  anId,
  emailTaken,
  invalidCredentials,
  invalidFields,
  malformedJson,
  passwordCommon,
  unavailable,
} from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import {
  type Account,
  anAccount,
  anEmail,
  anOrg,
  aPassword,
  isAlive,
  logIn,
  type Session,
} from '../support/personas.js';
import { startSharedCluster } from '../support/service.js';

const ROUNDS = 4;
/** fewer than the places of one address in the hashing queue */
const CLIENTS = 12;

const cluster = await startSharedCluster();
const service = cluster.instances[0]!;

const cast = await anOrg(service);
const register = (email: unknown, password: unknown = aPassword(), more: object = {}) =>
  service.anyone.post<Session>('/api/auth/register', { email, password, ...more });

describe('POST /api/auth/register', () => {
  it('creates the account and signs it in', async () => {
    const email = anEmail('ada');
    const answer = await register(email);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ token: aJwt, user: { id: anId, email } });
    const me = await service.anyone.withToken(answer.body.token).get('/api/me');
    expect(me.body).toEqual({ user: answer.body.user, orgs: [] });
  });

  it('refuses an e-mail that is taken, and leaves its account unchanged', async () => {
    const ada = await anAccount(service, 'ada');
    expect(await register(ada.email)).toMatchObject(emailTaken);
    expect((await logIn(service, ada)).status).toBe(200);
  });

  it.each([
    { body: {}, fields: ['email', 'password'] },
    { body: { email: anEmail() }, fields: ['password'] },
    { body: { password: aPassword() }, fields: ['email'] },
    { body: { email: null, password: null }, fields: ['email', 'password'] },
  ])('names each missing field once: $fields', async ({ body, fields }) => {
    expect(await service.anyone.post('/api/auth/register', body)).toMatchObject(invalidFields(...fields));
  });

  it('ignores unknown fields, and never binds them', async () => {
    const other = await anAccount(service);
    const [before] = await service.db.query('SELECT * FROM users WHERE id = ?', [other.id]);
    const roles = { role: 'owner', isAdmin: true };
    const columns = { id: other.id, passwordHash: 'x', createdAt: 0 };
    const answer = await register(anEmail(), aPassword(), { ...columns, ...roles });
    expect(answer.status).toBe(201);
    expect(answer.body.user.id).not.toBe(other.id);
    expect(await service.db.query('SELECT * FROM users WHERE id = ?', [other.id])).toEqual([before]);
  });

  it('creates ids that cannot be guessed from each other', async () => {
    const [one, two] = [await anAccount(service), await anAccount(service)];
    expect(one.id.slice(-12)).not.toBe(two.id.slice(-12));
    expect(one.id < two.id).toBe(true);
  });
});

describe.each(['register', 'login'])('POST /api/auth/%s', (path) => {
  const post = (body: object) => service.anyone.post(`/api/auth/${path}`, body);
  const NO_TEXT = [{ $gt: '' }, {}, 0, 1, 1234567890123, true, false, null, undefined, ''];

  it.each([['a@example.com'], ...NO_TEXT])('refuses the e-mail %j', async (...[email]) => {
    expect(await post({ email, password: aPassword() })).toMatchObject(invalidFields('email'));
  });

  it.each([['longenough-1'], ...NO_TEXT])('refuses the password %j', async (...[password]) => {
    expect(await post({ email: anEmail(), password })).toMatchObject(invalidFields('password'));
  });
});

describe('one e-mail registered by many at once', () => {
  it('makes one account, with the password of the request that got 201', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const label = anEmail().split('@')[0]!;
      const spellings = [
        `a@${label}.xn--bcher-kva.de`,
        `A@${label}.B\u00dcCHER.de`,
        ` a@${label.toUpperCase()}.b\u00fccher.DE `,
        `a@${label}.bu\u0308cher.de`,
      ];
      const attempts = times(CLIENTS, (client) => ({
        instance: cluster.instances[client % cluster.instances.length]!,
        credentials: { email: spellings[client % spellings.length]!, password: aPassword() },
      }));

      const answers = await atOnce(
        attempts.map(({ instance: { anyone }, credentials }) => {
          return () => anyone.post<Session>('/api/auth/register', credentials);
        }),
      );

      const created = answers.filter(({ status }) => status === 201);
      // On a busy machine some get 503, of which one may have taken effect.
      const late = answers.filter(({ status }) => status === 503);
      const refused = answers.filter((answer) => ![...created, ...late].includes(answer));
      for (const answer of late) expect(answer).toMatchObject(unavailable);
      for (const answer of refused) expect(answer).toMatchObject(emailTaken);
      const rows = await cluster.db.query('SELECT id FROM users WHERE email = ?', [spellings[0]!]);
      expect(rows).toHaveLength(1);
      for (const { body } of created) expect(rows).toEqual([{ id: body.user.id }]);

      const logins: Answer[] = [];
      for (const { credentials } of attempts) logins.push(await logIn(service, credentials));
      const [owner, ...others] = answers.filter((_, client) => logins[client]!.status === 200);
      expect(others).toEqual([]);
      expect(created.length > 0 ? created : late).toContain(owner);
      for (const login of logins.filter(({ status }) => status !== 200))
        expect(login).toMatchObject(invalidCredentials);
    }
  });
});

describe('the identity of an e-mail', () => {
  const addMember = (email: string) =>
    cast.owner.post(`/api/orgs/${cast.org.id}/members`, { email, role: 'member' });
  /** A different domain for each test, so that none meets another's accounts. */
  const domain = (): string => anEmail().split('@')[0]! + '.example.com';

  it('is the canonical form at register, login and add-member', async () => {
    const host = domain();
    const password = aPassword();
    const variants = [`alice@${host}`, `ALICE@${host.toUpperCase()}`, `  Alice@${host}  `];
    const alice = await register(variants[2], password);
    expect(alice.status).toBe(201);
    expect(alice.body.user.email).toBe(`alice@${host}`);
    for (const email of variants) {
      expect(await register(email)).toMatchObject(emailTaken);
      const login = await logIn(service, { email, password });
      expect(login.status, email).toBe(200);
      expect(login.body.user).toEqual(alice.body.user);
    }
    const added = await addMember(variants[1]!);
    expect(added.body).toEqual({ member: { userId: alice.body.user.id, role: 'member' } });
  });

  it('encodes an internationalized domain in ASCII', async () => {
    const label = anEmail().split('@')[0]!;
    expect((await register(`x@${label}.BÜCHER.de`)).body.user.email).toBe(`x@${label}.xn--bcher-kva.de`);
    expect(await register(`x@${label}.xn--bcher-kva.de`)).toMatchObject(emailTaken);
    expect(await register(`x@${label}.bu\u0308cher.de`)).toMatchObject(emailTaken);
  });

  it('keeps plus tags and dots, which make different accounts', async () => {
    const host = domain();
    const answers = [];
    for (const local of ['a', 'a+1', 'a.b']) answers.push((await register(`${local}@${host}`)).status);
    expect(answers).toEqual([201, 201, 201]);
    expect((await register(`ab@${host}`)).status).toBe(201);
  });

  it.each([
    ['zero-width space', 'a\u200b@b.co'],
    ['soft hyphen', 'a\u00ad@b.co'],
    ['Cyrillic а', '\u0430dmin@b.co'],
    ['Kelvin sign', '\u212a@b.co'],
    ['full-width a', '\uff41@b.co'],
    ['bidi override', '\u202ea@b.co'],
    ['dotless i', 'al\u0131ce@b.co'],
    ['accent', 'alic\u00e9@b.co'],
    ['ligature in the domain', 'a@\ufb01rm.co'],
    ['zero-width joiner in the domain', 'a@b\u200db.co'],
    ['quoted local part', '"a b"@b.co'],
    ['address literal', 'a@[127.0.0.1]'],
    ['IPv4 as domain', 'a@127.0.0.1'],
    ['angle brackets', '<a@b.co>'],
    ['two addresses', 'a@b.co,c@d.co'],
    ['two at signs', 'a@b@c.co'],
    ['CR LF', 'a@b.co\r\nBcc: c@d.co'],
    ['line feed at the end', 'a@b.co\n'],
    ['tab', '\ta@b.co'],
    ['NUL', 'a\u0000@b.co'],
    ['no-break space around it', '\u00a0a@b.co'],
    ['inner space', 'a b@c.co'],
    ['no dot in the domain', 'a@localhost'],
    ['dot at the end', 'a@b.co.'],
    ['two dots', 'a..b@c.co'],
    ['leading dot', '.a@c.co'],
    ['no local part', '@b.co'],
    ['no domain', 'a@'],
    ['no at sign', 'a.b.co'],
    ['percent-encoded domain', 'a@b%2eco'],
    ['lone surrogate', 'a\ud800@b.co'],
    ['empty', ''],
    ['blank', '   '],
  ])('is refused by every endpoint: %s', async (_what, email) => {
    const added = await addMember(email);
    const loggedIn = await logIn(service, { email, password: aPassword() });
    for (const answer of [added, loggedIn, await register(email)])
      expect(answer).toMatchObject(invalidFields('email'));
  });

  it.each([
    ['254 octets', 201, `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(57)}.co`],
    ['255 octets', 400, `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(58)}.co`],
    ['a local part of 64', 201, `${'a'.repeat(64)}@b.co`],
    ['a local part of 65', 400, `${'a'.repeat(65)}@b.co`],
    ['a label of 63', 201, `a@${'b'.repeat(63)}.co`],
    ['a label of 64', 400, `a@${'b'.repeat(64)}.co`],
    ['10,000 characters', 400, `${'a'.repeat(10_000)}@b.co`],
  ])('respects the lengths of RFC 5321: %s', async (_what, status, email) => {
    expect((await register(email)).status).toBe(status);
  });

  it('does not match text that a database collation takes for equal', async () => {
    const alice = await anAccount(service, 'alice');
    const near = [
      alice.email.replace('alice', 'alicf'),
      alice.email.replace('alice', 'alic'),
      `${alice.email}m`,
    ];
    for (const email of near)
      expect((await logIn(service, { email, password: alice.password })).status, email).toBe(401);
  });
});

describe('POST /api/auth/login', () => {
  let ada: Account;
  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  const login = (email: unknown, password: unknown) =>
    service.anyone.post<Session>('/api/auth/login', { email, password });

  it('answers with the user and a token of a new session', async () => {
    const [one, two] = [await login(ada.email, ada.password), await login(ada.email, ada.password)];
    expect(one.status).toBe(200);
    expect(one.body).toEqual({ token: aJwt, user: { id: ada.id, email: ada.email } });
    expect(new Set([ada.token, one.body.token, two.body.token]).size).toBe(3);
    expect(await isAlive(ada.as(one.body.token))).toBe(true);
  });

  it('answers a wrong password and an unknown e-mail in the same way', async () => {
    const wrong = await login(ada.email, aPassword());
    const unknown = await login(ada.email.replace('ada', 'eve'), aPassword());
    expect(wrong).toMatchObject(invalidCredentials);
    expect(withoutRequestId(unknown)).toEqual(withoutRequestId(wrong));
  });

  it.each(['Admin-2026', 'harbor\ud800lantern', 'harbor\ufffdlantern', 'x', 'x'.repeat(5000), ' '])(
    'accepts any text as a password, and finds it wrong: %j',
    async (password) => {
      expect(await login(ada.email, password)).toMatchObject(invalidCredentials);
      expect(await login(anEmail(), password)).toMatchObject(invalidCredentials);
    },
  );

  it('refuses an array that contains the right e-mail', async () => {
    expect(await login([ada.email], ada.password)).toMatchObject(invalidFields('email'));
    expect(await login(ada.email, [ada.password])).toMatchObject(invalidFields('password'));
  });

  it('treats an account that is deleted meanwhile as unknown', async () => {
    const eve = await anAccount(service, 'eve');
    const deletion = await holdRows(service);
    await deletion.write('DELETE FROM users WHERE id = ?', [ada.id]);
    // Until the COMMIT the account is read as it was, and no session of it can be written.
    const late = login(ada.email, ada.password);
    expect((await eve.get('/api/me')).status).toBe(200);
    await deletion.commit();
    expect(await late).toMatchObject(invalidCredentials);
  });
});

function withoutRequestId({ status, headers, body }: Answer): object {
  const visible = Object.fromEntries(headers);
  for (const name of ['date', 'x-request-id', 'ratelimit']) delete visible[name];
  return { status, headers: visible, body: { ...(body as object), requestId: 'any' } };
}

const EMOJI = '\u{1f40e}';

describe('the rules for passwords', () => {
  async function registerWith(password: string) {
    const email = anEmail();
    return { email, answer: await service.anyone.post('/api/auth/register', { email, password }) };
  }
  const login = (email: string, password: string) => logIn(service, { email, password });

  it.each([
    ['8 characters', 'tr0ubado'],
    ['8 emoji', EMOJI.repeat(8)],
    ['lower-case letters alone', 'quietharborlantern'],
    ['a phrase around a common word', 'my password is a secret'],
    ['64 characters', 'x7'.repeat(32)],
    ['128 characters', 'x7'.repeat(64)],
    ['128 emoji', EMOJI.repeat(128)],
    ['128 characters, each decomposed into four', '\u1f82'.repeat(128).normalize('NFD')],
    ['spaces at both ends', ' harbor lantern '],
    ['spaces alone', ' '.repeat(12)],
    ['NUL inside', 'harbor\u0000lantern'],
    ['control characters', 'harbor\tlan\ntern'],
  ])('accept %s, and it works at login', async (_what, password) => {
    const { email, answer } = await registerWith(password);
    expect(answer.status, answer.text).toBe(201);
    expect((await login(email, password)).status).toBe(200);
  });

  it.each([
    ['7 characters', 'tr0ubad'],
    ['7 emoji, which are 14 UTF-16 units', EMOJI.repeat(7)],
    ['7 characters after normalisation', 'A\u030a'.repeat(7)],
    ['129 characters', 'x'.repeat(129)],
    ['10,000 characters', 'x7'.repeat(5000)],
    ['a lone surrogate', 'harbor\ud800lantern'],
    ['U+FFFD', 'harbor\ufffdlantern'],
    ['the name of the service', 'AccountsAccounts'],
  ])('refuse %s', async (_what, password) => {
    const { email, answer } = await registerWith(password);
    expect(answer).toMatchObject(invalidFields('password'));
    expect(await service.db.query('SELECT id FROM users WHERE email = ?', [email])).toEqual([]);
  });

  it.each(['password1', 'PASSWORD1', '1234567890', 'passwordpassword', '123456789012345'])(
    'refuse the common %s by a code of its own',
    async (password) => {
      const { email, answer } = await registerWith(password);
      expect(answer).toMatchObject(passwordCommon('password'));
      expect(await service.db.query('SELECT id FROM users WHERE email = ?', [email])).toEqual([]);
    },
  );

  it('refuse a common password among other faults, as one of them', async () => {
    const answer = await service.anyone.post('/api/auth/register', { email: 'x', password: 'password1' });
    expect(answer).toMatchObject(invalidFields('email', 'password'));
  });

  it('refuse a common new password by the same code', async () => {
    const ada = await anAccount(service);
    const newPassword = 'passwordpassword';
    const change = { currentPassword: ada.password, newPassword };
    const reset = { email: ada.email, code: '0000000000', newPassword };
    for (const answer of [
      await ada.put('/api/me/password', change),
      await service.anyone.post('/api/auth/password/reset', reset),
    ])
      expect(answer).toMatchObject(passwordCommon('newPassword'));
  });

  it.each<[string, (text: string) => string]>([
    ['in any case', (text) => text],
    ['repeated', (text) => text.repeat(2)],
  ])('refuse the e-mail and its local part, %s', async (_what, altered) => {
    const email = anEmail('longlocalpart');
    const [local] = email.split('@') as [string];
    const names = [email, email.toUpperCase(), local, local.toUpperCase(), ` ${email} `];
    for (const password of names.map(altered)) {
      const answer = await service.anyone.post('/api/auth/register', { email, password });
      expect(answer, password).toMatchObject(invalidFields('password'));
    }
  });

  it('refuse bytes that are not UTF-8 instead of replacing them', async () => {
    const body = Buffer.from(JSON.stringify({ email: anEmail(), password: 'harbor?lantern' }));
    body[body.indexOf('?')] = 0xff;
    const answer = await service.anyone.send('POST', '/api/auth/register', {
      headers: { 'content-type': 'application/json' },
      body: new Uint8Array(body),
    });
    expect(answer).toMatchObject(malformedJson);
  });

  it.each([
    ['leave out the last character', (password: string) => password.slice(0, -1)],
    ['change the last character', (password: string) => `${password.slice(0, -1)}!`],
    ['trim', (password: string) => password.trim()],
    ['fold case', (password: string) => password.toLowerCase()],
    ['use compatibility forms', (password: string) => password.normalize('NFKC')],
    ['end at NUL', (password: string) => password.split('\u0000')[0]!],
  ])('do not %s', async (_what, alter) => {
    const password = ` \ufb01nd Harbor lantern\u0000 ${aPassword().repeat(3)} `;
    const { email, answer } = await registerWith(password);
    expect(answer.status).toBe(201);
    expect(await login(email, alter(password))).toMatchObject(invalidCredentials);
    expect((await login(email, password)).status).toBe(200);
  });

  it('treat canonically equivalent text as equal', async () => {
    const { email } = await registerWith('\u00c5ngstr\u00f6m harbor');
    expect((await login(email, 'A\u030angstro\u0308m harbor')).status).toBe(200);
  });
});
