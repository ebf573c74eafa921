import { afterAll, describe, expect, it } from 'vitest';
import { anOperator, makeOperator } from '../support/operators.js';
import { anAccountOf, anOrgOf, logIn } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { Chromium } from './support/chromium.js';

/** One may scroll for what an operation can answer, but not for the form. */
const A_SCREEN_PX = 900;
/** It stays at the top, and names whose login it is. */
const A_BAR_PX = 52;
const REASON = 'laptop stolen, ticket 4711';
/** Somebody could choose this name to attack the operator who looks at it. */
const MARKUP = `<img src="x" onerror="document.title='attacked'">`;

const TAGS = [
  'Authentication',
  'Users',
  'Organizations',
  'Audit log',
  'Emails',
  'Services',
  'Providers',
  'API keys',
  'Status',
  'Health',
];

/** No mail server answers, so that emails wait. */
const env = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'accounts@example.com' };
const service = await startOwnService({ env });
afterAll(() => service.stop());

describe('Swagger UI in Chromium', () => {
  it('shows a user around with its examples as they stand, and keeps nothing of it', async () => {
    const browser = await Chromium.start();
    const page = await browser.open(`${service.url}/docs`);
    const secrets = ['correct horse battery'];
    for (const id of ['register', 'createOrg', 'updateOrg', 'getOrg', 'issueCode', 'exchangeCode', 'getMe']) {
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

  it('takes an operator through a morning by what a person knows, and leaves nothing behind', async () => {
    const operator = await protect(service, await anAccountOf(service, 'support@example.com'));
    await makeOperator(service, operator.account);
    const grace = await anAccountOf(service, 'grace@example.com');
    const hedy = await anAccountOf(service, 'hedy@example.com');
    await anOrgOf(grace, MARKUP);
    const deleted = await anOrgOf(hedy, 'Frequency Hopping');
    expect((await hedy.delete(`/api/orgs/${deleted.id}`)).status).toBe(200);
    const colleague = await anOperator(service, 'colleague');
    const ended = await colleague.post(`/api/operators/users/${hedy.id}/end-sessions`, {
      reason: 'asked to',
    });
    expect(ended.status).toBe(200);
    expect((await logIn(service, { email: grace.email, password: 'wrong horse' })).status).toBe(401);
    const browser = await Chromium.start();
    const page = await browser.open(`${service.url}/docs`);
    await page.select('Operators');
    expect(await page.tags()).toEqual(TAGS);
    const { account, app } = operator;
    const { email, password } = account;

    const first = await page.execute('login', { fields: { email, password } });
    expect(first).toMatchObject({ status: 403, body: { code: 'second_factor_required' } });
    await expect.poll(() => page.focused()).toBe('code');
    const execute = page.operation('completeLogin').locator('.execute');
    await expect.poll(() => page.isInView(execute)).toBe(true);
    expect(await page.isAuthorized()).toBe(false);
    const second = await page.execute('completeLogin', { fields: { code: app.next() } });
    expect(second).toMatchObject({ status: 200, body: { user: { email } } });
    expect(second.body).not.toHaveProperty('refreshToken');
    expect(await page.loginLine()).toMatch(/^Logged in as support@example\.com until \w+.*\d\d:\d\d/);
    await page.filter('SESSIONS');
    expect(await page.operations()).toEqual(['adminListUserSessions', 'adminRevokeUserSessions']);
    await page.filter('/mails');
    expect(await page.operations()).toEqual(['adminListEmails', 'adminRetryEmail']);
    await page.filter('');
    const secrets = [password, first.body['challenge'], second.body['token']] as string[];
    for (const secret of secrets) service.installation.secrets.note(secret);

    const status = await page.execute('adminGetStatus');
    expect(status.body).toMatchObject({ engine: { name: 'sqlite' } });
    const found = await page.execute('adminListUsers', { parameters: { search: 'grac' } });
    expect(found.body).toMatchObject({ users: [{ id: grace.id, email: grace.email, disabledAt: null }] });
    const failed = { failedLogins: { count: 1, lastIp: '127.0.0.1' } };
    await expect
      .poll(async () => (await page.execute('adminGetUser')).body, { timeout: hangTimeoutMs() })
      .toMatchObject({ user: { id: grace.id, disabledAt: null, ...failed } });
    await expect.poll(() => page.showsAnswerOf('adminGetUser')).toBe(true);
    expect(await page.showsWholeAnswerOf('adminGetUser')).toBe(true);
    const own = await page.execute('adminListAuditEvents', { parameters: { userId: grace.id } });
    await expect.poll(() => page.showsAnswerOf('adminListAuditEvents')).toBe(true);
    const types = (own.body['events'] as { type: string }[]).map(({ type }) => type);
    expect(types).toEqual(['member.added', 'session.started', 'account.registered']);
    expect((await page.execute('adminListUserOrgs')).body).toMatchObject({ orgs: [{ name: MARKUP }] });

    const untold = await page.execute('adminDisableUser');
    expect(untold).toMatchObject({ status: 400, body: { errors: [{ field: 'reason' }] } });
    const fields = { reason: REASON };
    expect(await page.execute('adminUnblockUser', { fields })).toMatchObject({ status: 200 });
    expect(await page.execute('adminDisableUser', { fields })).toMatchObject({
      status: 409,
      body: { code: 'last_owner', orgs: [{ name: MARKUP }] },
    });
    const locked = await page.execute('adminDisableUser', { fields: { force: true } });
    expect(locked).toMatchObject({ status: 200, body: { ok: true, orphanedOrgs: [{ name: MARKUP }] } });
    expect((await grace.get('/api/me')).status).toBe(401);
    const typed = { email: 'joan@example.com', name: MARKUP };
    const created = await page.execute('adminCreateUser', { fields: { ...typed, ...fields } });
    const user = { ...typed, emailVerified: false };
    expect(created).toMatchObject({ status: 201, body: { user } });
    const issued = await page.execute('adminIssueResetCode', { fields });
    expect(issued).toMatchObject({ status: 201, body: { code: expect.stringMatching(/^\w{5}-\w{5}$/) } });
    secrets.push(issued.body['code'] as string);
    service.installation.secrets.note(issued.body['code']);
    const mails = await page.execute('adminListEmails', { parameters: { to: 'joan@example.com' } });
    expect(mails.body).toMatchObject({ mails: [{ recipient: 'joan@example.com', state: 'waiting' }] });
    expect(await page.execute('adminRetryEmail', { fields })).toMatchObject({
      status: 200,
      body: { ok: true },
    });

    const parameters = { type: 'account.disabled', since: '24h' };
    const record = await page.execute('adminListAuditEvents', { parameters: { userId: '', ...parameters } });
    expect(record.body['events']).toMatchObject([
      { actor: { type: 'operator', id: account.id }, userId: grace.id, reason: REASON },
    ]);
    const actor = { type: '', since: '', actorId: colleague.email };
    const done = await page.execute('adminListAuditEvents', { parameters: actor });
    const [latest] = done.body['events'] as object[];
    expect(latest).toMatchObject({
      actor: { type: 'operator', email: colleague.email },
      userId: hedy.id,
      reason: 'asked to',
    });
    const ownerless = await page.execute('adminListOrgs', { parameters: { status: 'ownerless' } });
    expect(ownerless.body).toMatchObject({ orgs: [{ name: MARKUP }] });
    const lost = await page.execute('adminListOrgs', { parameters: { status: 'deleted' } });
    expect(lost.body).toMatchObject({ orgs: [{ name: 'Frequency Hopping' }] });
    const restored = await page.execute('adminRestoreOrg', { fields });
    expect(restored).toMatchObject({ status: 200, body: { org: { name: 'Frequency Hopping' } } });
    expect(await page.page.locator('img[src="x"]').count()).toBe(0);
    expect(await page.page.title()).toBe('Accounts API');

    const others = (await page.operations()).filter((id) => id !== 'logOut' && !page.heightsPx.has(id));
    const inPath: Record<string, Record<string, string>> = {
      adminAllowCall: { name: 'billing' },
      adminRevokeCall: { name: 'billing', to: 'ledger' },
      adminRevokeApiKey: { keyId: grace.id },
    };
    for (const id of others) {
      const given = inPath[id] ?? (/(?:Service|Provider)$/.test(id) ? { name: 'billing' } : undefined);
      await page.execute(id, given && { parameters: given });
    }
    expect(await page.execute('logOut')).toMatchObject({ status: 200 });
    expect(await page.isAuthorized()).toBe(false);
    const heights = [...page.heightsPx].filter(([, px]) => px > A_SCREEN_PX - A_BAR_PX);
    expect(heights).toEqual([]);
    const commands = await page.commands();
    expect(commands).toContain('Bearer ***');
    expect(secrets.filter((secret) => commands.includes(secret))).toEqual([]);

    expect(await browser.stored()).toEqual([]);
    expect(await page.sessionStored()).toEqual([]);
    await page.reload();
    expect(await page.isAuthorized()).toBe(false);
    await page.select('Operators');
    expect(await page.execute('adminGetStatus')).toMatchObject({
      status: 401,
      body: { code: 'unauthorized' },
    });
    expect(await page.valueOf('completeLogin', 'challenge')).toBe('');

    expect(page.requested.filter((url) => secrets.some((secret) => url.includes(secret)))).toEqual([]);
    expect(new Set(page.requested.map((url) => new URL(url).origin))).toEqual(new Set([service.url]));
    expect(await browser.stopAndFind(secrets)).toEqual([]);
    expect(page.complaints).toEqual([]);
  });
});
