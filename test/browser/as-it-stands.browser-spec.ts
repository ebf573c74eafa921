import { afterAll, describe, expect, it } from 'vitest';
import { makeOperator } from '../support/operators.js';
import { anAccountOf } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { Chromium } from './support/chromium.js';
import type { SwaggerPage } from './support/swagger-page.js';

/** No mail server answers, so that emails wait. */
const env = {
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'accounts@example.com',
  JWT_ISSUER: 'https://accounts.example.com',
};
/** Chromium needs seconds for each of sixty operations on a machine that is busy. */
const TIMEOUT_MS = 1_200_000;
const service = await startOwnService({ env });
afterAll(() => service.stop());

/** What ends the organization or the login comes last, with a new login in front of the next. */
const ENDINGS = [
  'deleteOrg',
  'restoreOrg',
  'deleteOrg',
  'logOut',
  'login',
  'revokeSessions',
  'deleteAccount',
  'register',
  'changePassword',
];

/** The code of a failure, `asks` if the page or the answer asks for a field, or `works`. */
async function outcomeOf(page: SwaggerPage, id: string): Promise<string> {
  const sent = await page.send(id);
  await page.close(id);
  if (sent === 'asks') return 'asks';
  if (sent.status < 300) return 'works';
  const { code, errors } = sent.body as { code: string; errors?: { field: string }[] };
  return errors?.some(({ field }) => field !== '') === true ? 'asks' : code;
}

async function failuresOf(page: SwaggerPage, ids: readonly string[]): Promise<Record<string, string>> {
  const outcomes: [id: string, outcome: string][] = [];
  for (const id of ids) outcomes.push([id, await outcomeOf(page, id)]);
  expect(outcomes.length).toBeGreaterThan(3);
  return Object.fromEntries(outcomes.filter(([, outcome]) => outcome !== 'works' && outcome !== 'asks'));
}

describe(
  'each operation of Swagger UI, sent as it stands, works or asks for a field',
  { timeout: TIMEOUT_MS },
  () => {
    it('for a user who has registered, and changes no more than its summary says', async () => {
      const browser = await Chromium.start();
      const page = await browser.open(`${service.url}/docs`);
      const ids = (await page.operations()).filter((id) => !ENDINGS.includes(id));
      expect(await outcomeOf(page, 'register')).toBe('works');
      await service.db.query(
        "UPDATE users SET name = 'Augusta', locale = 'de' WHERE email = 'ada@example.com'",
      );

      const failures = await failuresOf(page, [...ids, ...ENDINGS]);

      // Nobody registered as Grace, and the only owner of an organization cannot leave it.
      expect(failures).toEqual({ addMember: 'user_not_found', leaveOrg: 'last_owner' });
      expect(page.complaints).toEqual([]);
      await browser.stopAndFind([]);
    });

    it('for a service without credentials, but for those', async () => {
      const browser = await Chromium.start();
      const page = await browser.open(`${service.url}/docs?urls.primaryName=Services`);
      const failures = await failuresOf(page, await page.operations());
      expect(new Set(Object.values(failures))).toEqual(new Set(['invalid_client', 'unauthorized']));
      await browser.stopAndFind([]);
    });

    it('for an operator', async () => {
      const operator = await protect(service, await anAccountOf(service, 'support@example.com'));
      await makeOperator(service, operator.account);
      const { email, password } = operator.account;
      const browser = await Chromium.start();
      const page = await browser.open(`${service.url}/docs?urls.primaryName=Operators`);
      const filledIn = new Set(['login', 'completeLogin', 'logOut']);
      const ids = (await page.operations()).filter((id) => !filledIn.has(id));
      await page.execute('login', { fields: { email, password } });
      await page.execute('completeLogin', { fields: { code: operator.app.next() } });

      expect(await failuresOf(page, [...ids, 'logOut'])).toEqual({});
      await browser.stopAndFind([]);
    });
  },
);

describe('the filter of Swagger UI', () => {
  it('finds operations by the words that people use, and says so if there are none', async () => {
    const browser = await Chromium.start();
    const page = await browser.open(`${service.url}/docs?urls.primaryName=Operators`);
    for (const [word, id] of [
      ['lock', 'adminDisableUser'],
      ['ban', 'adminDisableUser'],
      ['Kick', 'adminRevokeUserSessions'],
      ['failed', 'adminGetUser'],
      ['password', 'adminIssueResetCode'],
      ['lost phone', 'adminRemoveUserSecondFactor'],
    ] as const) {
      await page.filter(word);
      await expect.poll(() => page.operations(), { message: word }).toContain(id);
    }
    await page.filter('frobnicate');
    await expect.poll(() => page.nothingFound()).toMatch(/^No operation here matches “frobnicate”\. Try/);
    await page.filter('log in as');
    await expect.poll(() => page.nothingFound()).toMatch(/^Nobody can log in as another user/);
    expect(await page.operations()).toEqual([]);
    await page.filter('');
    await expect.poll(() => page.operations()).toContain('adminGetStatus');
    expect(page.complaints).toEqual([]);
    await browser.stopAndFind([]);
  });
});
