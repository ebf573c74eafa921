import { afterAll, describe, expect, it } from 'vitest';
import { emailTaken, invalidFields } from '../support/expected.js';
import { anAccount, anEmail, anOrg, aPassword, type Session } from '../support/personas.js';
import { startServiceWithoutLimits } from '../support/service.js';

const service = await startServiceWithoutLimits();
afterAll(() => service.stop());

describe('the identity of an e-mail', () => {
  const register = (email: string) =>
    service.anyone.post<Session>('/api/auth/register', { email, password: aPassword() });

  /** A different domain for each test, so that none meets another's accounts. */
  const domain = (): string => anEmail().split('@')[0]! + '.example.com';

  it('is the canonical form at register, login and add-member', async () => {
    const { org, owner } = await anOrg(service);
    const host = domain();
    const password = aPassword();
    const variants = [`alice@${host}`, `ALICE@${host.toUpperCase()}`, `  Alice@${host}  `];

    const alice = await service.anyone.post<Session>('/api/auth/register', { email: variants[2], password });
    expect(alice.status).toBe(201);
    expect(alice.body.user.email).toBe(`alice@${host}`);

    for (const email of variants) {
      expect(await register(email)).toMatchObject(emailTaken);
      const login = await service.anyone.post<Session>('/api/auth/login', { email, password });
      expect(login.status, email).toBe(200);
      expect(login.body.user).toEqual(alice.body.user);
    }
    const added = await owner.post(`/api/orgs/${org.id}/members`, { email: variants[1], role: 'member' });
    expect(added.body).toEqual({ member: { userId: alice.body.user.id, role: 'member' } });
  });

  it('encodes an internationalized domain in ASCII', async () => {
    const label = anEmail().split('@')[0]!;

    const first = await register(`x@${label}.BÜCHER.de`);

    expect(first.body.user.email).toBe(`x@${label}.xn--bcher-kva.de`);
    expect(await register(`x@${label}.xn--bcher-kva.de`)).toMatchObject(emailTaken);
    expect(await register(`x@${label}.bu\u0308cher.de`)).toMatchObject(emailTaken);
  });

  it('keeps plus tags and dots, which make different accounts', async () => {
    const host = domain();

    const answers = [
      await register(`a@${host}`),
      await register(`a+1@${host}`),
      await register(`a.b@${host}`),
    ];

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
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
    const { org, owner } = await anOrg(service);

    expect(await register(email)).toMatchObject(invalidFields('email'));
    expect(await service.anyone.post('/api/auth/login', { email, password: aPassword() })).toMatchObject(
      invalidFields('email'),
    );
    expect(await owner.post(`/api/orgs/${org.id}/members`, { email, role: 'member' })).toMatchObject(
      invalidFields('email'),
    );
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

    for (const email of near) {
      const login = await service.anyone.post('/api/auth/login', { email, password: alice.password });
      expect(login.status, email).toBe(401);
    }
  });
});
