import { afterAll, describe, expect, it } from 'vitest';
import { makeOperator } from '../support/operators.js';
import { anAccountOf, anOrgOf } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { Chromium } from './support/chromium.js';

/** One may scroll for what an operation can answer, but not for the form. */
const A_SCREEN_PX = 900;
const REASON = 'laptop stolen, ticket 4711';
/** Somebody could choose this name to attack the operator who looks at it. */
const MARKUP = `<img src="x" onerror="document.title='attacked'">`;

const service = await startOwnService();
afterAll(() => service.stop());

describe('Swagger UI in Chromium', () => {
  it('shows a user around with its examples as they stand, and keeps nothing of it', async () => {
    const browser = await Chromium.start();
    const page = await browser.open(`${service.url}/docs`);
    const secrets = ['correct horse battery'];
    for (const id of ['register', 'createOrg', 'getOrg', 'issueCode', 'exchangeCode', 'getMe']) {
      const { status, body } = await page.execute(id);
      expect(status, id).toBeLessThan(300);
      secrets.push(...[body['token'], body['code']].filter((secret) => typeof secret === 'string'));
    }
    expect(secrets).toHaveLength(4);

    await page.select('Services');
    expect(await page.isAuthorized()).toBe(true);
    expect(await page.execute('getOrg')).toMatchObject({ status: 200 });
    await page.reload();
    expect(await page.isAuthorized()).toBe(false);
    expect(await page.execute('getMe')).toMatchObject({ status: 401, body: { code: 'unauthorized' } });

    expect(await browser.stored()).toEqual([]);
    expect(await browser.stopAndFind(secrets)).toEqual([]);
    expect(page.complaints).toEqual([]);
  });

  it('shows a service that it lacks credentials, without a dialog of the browser', async () => {
    const reader = await Chromium.start();
    const shown = await reader.open(`${service.url}/docs?urls.primaryName=Services`);
    for (const id of ['listEvents', 'introspectToken']) {
      expect(await shown.execute(id)).toMatchObject({ status: 401, body: { code: 'invalid_client' } });
    }
    await reader.stopAndFind([]);
  });

  it.each(['Clients', 'Services', 'Operators'] as const)(
    'shows each operation for %s on one screen, until one opens an answer',
    async (kind) => {
      const reader = await Chromium.start();
      const shown = await reader.open(`${service.url}/docs?urls.primaryName=${kind}`);
      const heights: [operation: string, px: number][] = [];
      for (const id of await shown.operations()) {
        const box = await (await shown.open(id)).boundingBox();
        heights.push([id, box!.height]);
        await shown.close(id);
      }
      await reader.stopAndFind([]);

      expect(heights.length).toBeGreaterThan(3);
      expect(heights.filter(([, px]) => px > A_SCREEN_PX)).toEqual([]);
    },
  );

  it('needs nothing typed by an operator but what a person knows, and leaves nothing behind', async () => {
    const operator = await protect(service, await anAccountOf(service, 'support@example.com'));
    await makeOperator(service, operator.account);
    const grace = await anAccountOf(service, 'grace@example.com');
    await anAccountOf(service, 'hedy@example.com');
    await anOrgOf(grace, MARKUP);
    const browser = await Chromium.start();
    const page = await browser.open(`${service.url}/docs`);
    await page.select('Operators');
    const { account, app } = operator;
    const credentials = (text: string) =>
      text.replace('ada@example.com', account.email).replace('correct horse battery', account.password);
    const first = await page.execute('login', { body: credentials });
    expect(first).toMatchObject({ status: 403, body: { code: 'second_factor_required' } });
    expect(await page.isOpen('completeLogin')).toBe(true);
    expect(await page.isAuthorized()).toBe(false);
    const code = app.next();
    const typed = (text: string) => text.replace('492 039', code);
    const second = await page.execute('completeLogin', { body: typed });
    expect(second.status).toBe(200);
    expect(await page.isAuthorized()).toBe(true);
    const secrets = [account.password, first.body['challenge'], second.body['token']] as string[];
    for (const secret of secrets) service.installation.secrets.note(secret);

    expect((await page.execute('adminGetStatus')).body).toMatchObject({ engine: { name: 'sqlite' } });
    const found = await page.execute('adminListUsers', { parameters: { search: 'grac' } });
    expect(found.body).toMatchObject({ users: [{ id: grace.id, email: grace.email, disabledAt: null }] });
    expect((await page.execute('adminListUserOrgs')).body).toMatchObject({ orgs: [{ name: MARKUP }] });
    expect(await page.execute('adminDisableUser', { body: withReason })).toMatchObject({
      status: 409,
      body: { code: 'last_owner', orgs: [{ name: MARKUP }] },
    });
    const locked = await page.execute('adminDisableUser', {
      body: (text) => withReason(text).replace('"force": false', '"force": true'),
    });
    expect(locked).toMatchObject({ status: 200, body: { ok: true, orphanedOrgs: [{ name: MARKUP }] } });
    expect((await grace.get('/api/me')).status).toBe(401);
    const created = await page.execute('adminCreateUser', {
      body: (text) =>
        withReason(text)
          .replace('ada@example.com', 'joan@example.com')
          .replace('"Ada Lovelace"', JSON.stringify(MARKUP)),
    });
    expect(created).toMatchObject({
      status: 201,
      body: { user: { email: 'joan@example.com', name: MARKUP, emailVerified: false } },
    });
    secrets.push(created.body['code'] as string);
    service.installation.secrets.note(created.body['code']);
    const parameters = { type: 'account.disabled', since: '24h' };
    const record = await page.execute('adminListAuditEvents', { parameters });
    expect(record.body['events']).toMatchObject([
      { actor: { type: 'operator', id: account.id }, userId: grace.id, reason: REASON },
    ]);
    expect(await page.page.locator('img[src="x"]').count()).toBe(0);
    expect(await page.page.title()).toBe('Accounts API');

    expect(await browser.stored()).toEqual([]);
    expect(await page.sessionStored()).toEqual([]);
    await page.reload();
    expect(await page.isAuthorized()).toBe(false);
    await page.select('Operators');
    expect(await page.execute('adminGetStatus')).toMatchObject({
      status: 401,
      body: { code: 'unauthorized' },
    });
    expect(await page.bodyOf('completeLogin')).toContain('"challenge": ""');

    expect(page.requested.filter((url) => secrets.some((secret) => url.includes(secret)))).toEqual([]);
    expect(new Set(page.requested.map((url) => new URL(url).origin))).toEqual(new Set([service.url]));
    expect(await browser.stopAndFind(secrets)).toEqual([]);
    expect(page.complaints).toEqual([]);
  });

  const withReason = (text: string): string => text.replace('ticket 4711: asked for it by phone', REASON);
});
