import { describe, expect, it } from 'vitest';
import { type ClaimRules, needsUserInfo, type ProviderClaims, readClaims } from './claims.js';
import { DEFAULT_SETTINGS } from './provider-settings.js';

const NOW = Date.UTC(2026, 10, 29);
const NOW_SECONDS = NOW / 1000;
const HOUR = 3600;

const EMAIL = 'ada@example.com';
const ADA = { sub: 'ada', email: EMAIL, email_verified: true, name: 'Ada Lovelace', auth_time: NOW_SECONDS };

type Change = Partial<Omit<ClaimRules, 'settings'>> & { settings?: Partial<ClaimRules['settings']> };

const rulesOf = ({ settings, ...rest }: Change = {}): ClaimRules => ({
  settings: { ...DEFAULT_SETTINGS, ...settings },
  now: NOW,
  sessionMaxAge: 30 * 24 * HOUR,
  startedAt: NOW - 60_000,
  ...rest,
});
const read = (claims: ProviderClaims, change?: Change, userInfo?: ProviderClaims) =>
  readClaims({ ...ADA, ...claims }, userInfo, rulesOf(change));

const refusedFor = (error: string): object => ({ kind: 'refused', error });

describe('readClaims', () => {
  it('returns the user of an ID token', () => {
    expect(read({})).toEqual({
      kind: 'accepted',
      subject: 'ada',
      email: EMAIL,
      emailVerified: true,
      name: 'Ada Lovelace',
      authTime: NOW,
    });
  });

  it.each(['A', 'a'.repeat(255), 'ä b', '\u{1F600}'.repeat(255)])('takes the subject as it is: %j', (sub) => {
    expect(read({ sub })).toMatchObject({ subject: sub });
  });

  it.each(['', 'a'.repeat(256), '\ud800', 'a\u0000b', 7, null, ['ada'], undefined])(
    'refuses the subject %j',
    (sub) => {
      expect(read({ sub })).toMatchObject(refusedFor('provider_unavailable'));
    },
  );

  it('reads the subject from the claim of the settings alone', () => {
    const settings = { subjectClaim: 'oid' } as const;
    expect(read({ oid: '3d0c' }, { settings })).toMatchObject({ subject: '3d0c' });
    expect(read({}, { settings })).toMatchObject(refusedFor('provider_unavailable'));
  });

  it.each([
    ['the same text', 'example.com', 'accepted'],
    ['a list with it', ['other.example', 'example.com'], 'accepted'],
    ['another case', 'Example.com', 'refused'],
    ['a longer text', 'example.com.evil.example', 'refused'],
    ['a list without it', ['other.example'], 'refused'],
    ['a list in a list', [['example.com']], 'refused'],
    ['an object', { 'example.com': true }, 'refused'],
    ['nothing', undefined, 'refused'],
  ])('compares the required claim with %s', (_, hd, kind) => {
    const settings = { require: { name: 'hd', value: 'example.com' } };
    const error = kind === 'refused' ? 'provider_denied' : undefined;
    expect(read({ hd }, { settings })).toEqual(expect.objectContaining({ kind, ...(error && { error }) }));
  });

  it.each([
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
    ['TRUE', false],
    [1, false],
    [null, false],
    [undefined, false],
    [['true'], false],
  ])('takes email_verified %j for %s', (email_verified, emailVerified) => {
    expect(read({ email_verified })).toMatchObject({ email: EMAIL, emailVerified });
  });

  it.each([
    [' Ada@EXAMPLE.com ', EMAIL],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada', null],
    ['ada@example.com,eve@example.com', null],
    [[EMAIL], null],
    [{ toString: EMAIL }, null],
    ['', null],
    [null, null],
    [undefined, null],
  ])('reads the email %j as %s', (email, normalized) => {
    expect(read({ email })).toMatchObject({ email: normalized });
  });

  it('does not let email_verified speak for another claim', () => {
    const settings = { emailClaim: 'upn', trustEmails: true };
    expect(read({ upn: EMAIL, email: 'eve@example.com' }, { settings })).toMatchObject({
      email: EMAIL,
      emailVerified: false,
    });
  });

  it.each([
    [
      'an unverified email beside another, verified one',
      { email: EMAIL },
      { email: 'eve@example.com', email_verified: true },
      'eve@example.com',
      true,
    ],
    ['no email', { email: undefined }, { email: EMAIL }, EMAIL, false],
    ['email_verified alone in UserInfo', { email: EMAIL }, { email_verified: true }, EMAIL, false],
    [
      'email_verified alone in the ID token',
      { email: undefined, email_verified: true },
      { email: EMAIL },
      EMAIL,
      false,
    ],
    ['no email in either', { email: undefined }, {}, null, false],
  ])('takes email and email_verified from one document: %s', (_, idToken, userInfo, email, emailVerified) => {
    const result = read({ email_verified: undefined, ...idToken }, {}, { sub: 'ada', ...userInfo });
    expect(result).toMatchObject({ email, emailVerified });
  });

  it.each([
    [' Ada ', 'Ada'],
    ['a'.repeat(101), null],
    ['Ada\nLovelace', null],
    ['', null],
    [7, null],
    [undefined, null],
  ])('reads the name %j as %j', (name, stored) => {
    expect(read({ name })).toMatchObject({ kind: 'accepted', name: stored });
  });

  it('reads the name from UserInfo if the ID token has none', () => {
    expect(read({ name: undefined }, {}, { sub: 'ada', name: 'Ada' })).toMatchObject({ name: 'Ada' });
  });

  it.each([
    ['a time of the past', NOW_SECONDS - 10.25, NOW - 10_250],
    ['a time in the future', NOW_SECONDS + HOUR, NOW],
    ['an endless time', 1e308, NOW],
    ['a text', String(NOW_SECONDS), null],
    ['nothing', undefined, null],
  ])('reads auth_time: %s', (_, auth_time, authTime) => {
    expect(read({ auth_time })).toMatchObject({ kind: 'accepted', authTime });
  });

  it.each([
    { maxAge: 0, age: 0, refused: false },
    { maxAge: 0, age: 89, refused: false },
    { maxAge: 0, age: 91, refused: true },
    { maxAge: 600, age: 689, refused: false },
    { maxAge: 600, age: 691, refused: true },
    { maxAge: undefined, age: HOUR - 1, refused: false },
    { maxAge: undefined, age: HOUR, refused: true },
    { maxAge: 86_400, age: HOUR, refused: true },
  ])('measures maxAge from the start, a minute ago: $maxAge, $age s: refused $refused', (row) => {
    const { maxAge, age, refused } = row;
    const result = read({ auth_time: NOW_SECONDS - age }, { maxAge, sessionMaxAge: HOUR });
    expect(result).toMatchObject(
      refused ? refusedFor('insufficient_user_authentication') : { kind: 'accepted' },
    );
  });

  it('measures maxAge from now if the clock of the start is ahead', () => {
    const ahead = { maxAge: 0, startedAt: NOW + 60_000 };
    expect(read({ auth_time: NOW_SECONDS - 20 }, ahead)).toMatchObject({ kind: 'accepted' });
  });

  it('refuses maxAge if the provider names no time', () => {
    expect(read({ auth_time: undefined }, { maxAge: 86_400 })).toMatchObject(
      refusedFor('insufficient_user_authentication'),
    );
  });

  it('puts no value of a claim into a reason', () => {
    const settings = { require: { name: 'hd', value: 'secret.example' } };
    const results = [read({ sub: '' }), read({ hd: 'x' }, { settings }), read({ auth_time: 0 })];
    expect(JSON.stringify(results)).not.toMatch(/secret|ada|1970/i);
  });
});

describe('needsUserInfo', () => {
  it.each([
    ['all is there', {}, {}, false],
    ['the email is absent', { email: undefined }, {}, true],
    ['the email is none', { email: 'ada' }, {}, true],
    ['email_verified is absent', { email_verified: undefined }, {}, true],
    ['email_verified is false', { email_verified: false }, {}, false],
    ['email_verified is absent and not needed', { email_verified: undefined }, { trustEmails: true }, false],
  ])('%s', (_, claims, settings, needed) => {
    expect(needsUserInfo({ ...ADA, ...claims }, rulesOf({ settings }))).toBe(needed);
  });
});
