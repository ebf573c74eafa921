import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { isCurrent, withSources } from '../../tooling/png-sources.js';
import { makeOperator } from '../support/operators.js';
import { anAccountOf } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { Chromium } from './support/chromium.js';

const PICTURE = 'docs/pictures/swagger-ui.png';
/** What the picture shows: the page, and the operation of an operator who disables a user. */
const SOURCES = ['tooling/openapi/page/*', 'src/operators/user-operations.controller.ts'];
const LARGEST_BYTES = 120_000;

const service = await startOwnService();
afterAll(() => service.stop());

it('takes a picture of an operator who disables a user, if that of the page is out of date', async () => {
  const { account, app } = await protect(service, await anAccountOf(service, 'support@example.com'));
  await makeOperator(service, account);
  const grace = await anAccountOf(service, 'grace@example.com');
  const browser = await Chromium.start();
  const page = await browser.open(`${service.url}/docs?urls.primaryName=Operators`);
  await page.page.setViewportSize({ width: 1200, height: 760 });
  await page.execute('login', { fields: { email: account.email, password: account.password } });
  await page.execute('completeLogin', { fields: { code: app.next() } });
  await page.filter('disable');
  const reason = 'laptop stolen, ticket 4711';
  const parameters = { userId: grace.id };
  const { body } = await page.execute('adminDisableUser', { parameters, fields: { reason } });
  expect(body).toMatchObject({ ok: true });
  await expect.poll(() => page.showsAnswerOf('adminDisableUser')).toBe(true);
  const png = await page.page.screenshot();
  await browser.stopAndFind([]);

  if (!existsSync(PICTURE) || isCurrent(readFileSync(PICTURE)) !== true)
    writeFileSync(PICTURE, withSources(png, SOURCES));
  expect(png.length).toBeLessThan(LARGEST_BYTES);
});
