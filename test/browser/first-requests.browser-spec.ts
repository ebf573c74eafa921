import { afterAll, describe, expect, it } from 'vitest';
import { startOwnService } from '../support/service.js';
import { Chromium } from './support/chromium.js';

/** One may scroll for what an operation can answer, but not for the form. */
const A_SCREEN_PX = 900;

const service = await startOwnService();
const browser = await Chromium.start();
const page = await browser.open(`${service.url}/docs`);
afterAll(() => service.stop());

describe('Swagger UI in Chromium', () => {
  it('shows a user around with its examples as they stand, and keeps nothing of it', async () => {
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
    for (const id of ['followEvents', 'introspectToken']) {
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
});
