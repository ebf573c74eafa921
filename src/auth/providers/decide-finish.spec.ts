import { describe, expect, it } from 'vitest';
import { decideFinish, type FinishFacts, type FinishOutcome, trustedEmail } from './decide-finish.js';

const EMAIL = 'ada@acme.example';
const USER = { disabledAt: null, secondFactorAt: null };
const VERIFIED = { ...USER, emailVerifiedAt: 1, operatorSince: null, linkedTo: null };

const FACTS: FinishFacts = {
  settings: { createUsers: false, linkByEmail: false },
  known: undefined,
  email: EMAIL,
  owner: undefined,
  password: 'absent',
  hasCode: false,
};
const CREATES = { createUsers: true, linkByEmail: false };
const LINKS = { createUsers: false, linkByEmail: true };
const BOTH = { createUsers: true, linkByEmail: true };

const words = (outcome: FinishOutcome): string =>
  Object.values(outcome)
    .map((value) => (value === true ? 'with code' : value === false ? '' : value))
    .join(' ')
    .trim();

const settingsTable = [FACTS.settings, CREATES, LINKS, BOTH];
const passwords = ['absent', 'unchecked', 'wrong', 'right'] as const;
const proofs = passwords.flatMap((password) => [false, true].map((hasCode) => ({ password, hasCode })));

describe('decideFinish', () => {
  it.each<[string, Partial<FinishFacts>, string]>([
    // The identity is known.
    ['a known user', { known: USER }, 'log_in'],
    ['a known user without an email that counts', { known: USER, email: undefined }, 'log_in'],
    ['a known user who is disabled', { known: { ...USER, disabledAt: 1 } }, 'refuse account_disabled'],
    [
      'a known user with a second factor',
      { known: { ...USER, secondFactorAt: 1 } },
      'refuse second_factor_code_required',
    ],
    [
      'a known user with a second factor, and a code',
      { known: { ...USER, secondFactorAt: 1 }, hasCode: true },
      'log_in with code',
    ],
    [
      'a known user with a second factor who is disabled',
      { known: { disabledAt: 1, secondFactorAt: 1 }, hasCode: true },
      'refuse account_disabled',
    ],
    ['a known user, with a code that is not needed', { known: USER, hasCode: true }, 'log_in'],

    // It is not, and the email does not count.
    ['no email that counts', { email: undefined, settings: BOTH }, 'refuse provider_email_refused'],

    // Nobody has the email.
    ['nobody has the email', {}, 'refuse registration_closed'],
    ['nobody has the email', { settings: LINKS }, 'refuse registration_closed'],
    ['nobody has the email', { settings: CREATES }, 'create'],
    ['nobody has the email, with a password', { settings: CREATES, password: 'unchecked' }, 'create'],

    // A user has the email.
    ['the email was reused', { owner: { ...VERIFIED, linkedTo: 'x' } }, 'refuse identity_taken'],
    [
      'the email was reused, with the right password',
      { owner: { ...VERIFIED, linkedTo: 'x' }, settings: BOTH, password: 'right' },
      'refuse identity_taken',
    ],
    ['a verified email', { owner: VERIFIED, settings: LINKS }, 'link email'],
    ['a verified email, creating only', { owner: VERIFIED, settings: CREATES }, 'refuse link_required'],
    ['a verified email, linking off', { owner: VERIFIED }, 'refuse link_required'],
    [
      'an email that nobody has verified',
      { owner: { ...VERIFIED, emailVerifiedAt: null }, settings: LINKS },
      'refuse link_required',
    ],
    ['an operator', { owner: { ...VERIFIED, operatorSince: 1 }, settings: LINKS }, 'refuse link_required'],
    [
      'an operator with a password',
      { owner: { ...VERIFIED, operatorSince: 1 }, settings: LINKS, password: 'unchecked' },
      'check_password',
    ],
    ['a password', { owner: VERIFIED, password: 'unchecked' }, 'check_password'],
    ['a wrong password', { owner: VERIFIED, password: 'wrong' }, 'refuse wrong_password'],
    ['the right password', { owner: VERIFIED, password: 'right' }, 'link password'],
    [
      'a wrong password of a disabled user',
      { owner: { ...VERIFIED, disabledAt: 1 }, password: 'wrong' },
      'refuse wrong_password',
    ],
    [
      'the right password of a disabled user',
      { owner: { ...VERIFIED, disabledAt: 1 }, password: 'right' },
      'refuse account_disabled',
    ],
    [
      'linking a disabled user by email',
      { owner: { ...VERIFIED, disabledAt: 1 }, settings: LINKS },
      'refuse account_disabled',
    ],
    [
      'linking by email, with a second factor',
      { owner: { ...VERIFIED, secondFactorAt: 1 }, settings: LINKS },
      'refuse second_factor_code_required',
    ],
    [
      'linking by email, with a second factor and a code',
      { owner: { ...VERIFIED, secondFactorAt: 1 }, settings: LINKS, hasCode: true },
      'link email with code',
    ],
    [
      'the right password, with a second factor',
      { owner: { ...VERIFIED, secondFactorAt: 1 }, password: 'right' },
      'refuse second_factor_code_required',
    ],
    [
      'the right password, with a second factor and a code',
      { owner: { ...VERIFIED, secondFactorAt: 1 }, password: 'right', hasCode: true },
      'link password with code',
    ],
    [
      'a wrong password, with a second factor and a code',
      { owner: { ...VERIFIED, secondFactorAt: 1 }, password: 'wrong', hasCode: true },
      'refuse wrong_password',
    ],
  ])('%s: %j: %s', (_, facts, expected) => {
    expect(words(decideFinish({ ...FACTS, ...facts }))).toBe(expected);
  });

  const times = [null, 1];
  const states = times.flatMap((disabledAt) =>
    times.map((secondFactorAt) => ({ disabledAt, secondFactorAt })),
  );
  const owners = states.flatMap(({ disabledAt, secondFactorAt }) =>
    times.flatMap((emailVerifiedAt) =>
      times.flatMap((operatorSince) =>
        [null, 'x'].map((linkedTo) => ({
          disabledAt,
          secondFactorAt,
          emailVerifiedAt,
          operatorSince,
          linkedTo,
        })),
      ),
    ),
  );
  const all = settingsTable.flatMap((settings) =>
    proofs.flatMap(({ password, hasCode }) =>
      [undefined, EMAIL].flatMap((email) =>
        [undefined, ...states].flatMap((known) =>
          [undefined, ...owners].map((owner) => ({ settings, known, email, owner, password, hasCode })),
        ),
      ),
    ),
  );

  it('opens no login of a disabled user, and none without the second factor, in the whole table', () => {
    const wrong = all.filter((facts) => {
      const outcome = decideFinish(facts);
      if (outcome.kind !== 'log_in' && outcome.kind !== 'link') return false;
      const user = facts.known ?? facts.owner;
      const hasFactor = user?.secondFactorAt !== null;
      return user?.disabledAt !== null || outcome.needsCode !== hasFactor || (hasFactor && !facts.hasCode);
    });
    expect(wrong).toEqual([]);
  });

  it('reads neither email nor owner, settings nor password for a known identity', () => {
    const ofKnown = all.filter(({ known }) => known);
    const groups = Map.groupBy(ofKnown, ({ known, hasCode }) => JSON.stringify({ known, hasCode }));
    expect(groups.size).toBe(2 * states.length);
    for (const [group, facts] of groups)
      expect(new Set(facts.map((one) => words(decideFinish(one)))).size, group).toBe(1);
  });

  it('creates and links only with an email that counts, what the settings allow, and what was proven', () => {
    const isWrong = (
      { settings, known, email, owner, password }: FinishFacts,
      { kind, ...more }: FinishOutcome,
    ) => {
      const isProven =
        'via' in more && more.via === 'email'
          ? settings.linkByEmail && owner?.emailVerifiedAt === 1 && owner.operatorSince === null
          : password === 'right';
      if (kind === 'create') return !settings.createUsers || known || email !== EMAIL || owner;
      return kind === 'link' && (known || email !== EMAIL || owner?.linkedTo !== null || !isProven);
    };
    const outcomes = all.map((facts) => ({ facts, outcome: decideFinish(facts) }));
    expect(outcomes.filter(({ facts, outcome }) => isWrong(facts, outcome))).toEqual([]);
    expect(new Set(outcomes.map(({ outcome }) => outcome.kind)).size).toBe(5);
  });
});

describe('trustedEmail', () => {
  it.each([
    [EMAIL, 1, 1, false, EMAIL],
    [EMAIL, 0, 1, true, EMAIL],
    [EMAIL, 0, 1, false, undefined],
    [EMAIL, 1, 0, true, undefined],
    [null, 1, 1, true, undefined],
  ] as const)(
    '%s, verified %s, of a domain %s, trust-emails %s: %s',
    (email, emailVerified, isOfDomain, trustEmails, expected) => {
      expect(trustedEmail({ email, emailVerified, isOfDomain }, { trustEmails })).toBe(expected);
    },
  );
});
