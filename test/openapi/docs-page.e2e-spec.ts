import { describe, expect, it } from 'vitest';
import { notFound } from '../support/expected.js';
import { requestBytes, sendBytes } from '../support/raw-connection.js';
import { startService } from '../support/service.js';

describe('the page of the documentation', () => {
  it('loads only files of its own, all of which exist', async () => {
    const service = await startService();

    const page = await service.anyone.get('/docs');
    const final = page.headers.get('location') === null ? page : await service.anyone.get('/docs/');
    expect(final.status).toBe(200);
    expect(final.headers.get('content-type')).toMatch(/^text\/html/);

    const assets = [...final.text.matchAll(/(?:src|href)\s*=\s*"([^"]+)"/g)].map(([, link]) => link!);
    expect(assets.length).toBeGreaterThan(3);
    for (const asset of assets) {
      const url = new URL(asset, `${service.url}/docs`);
      expect(url.origin, asset).toBe(service.url);
      const answer = await fetch(url);
      expect([asset, answer.status]).toEqual([asset, 200]);
      await answer.arrayBuffer();
    }
    expect(final.headers.get('content-security-policy')).not.toMatch(/https?:/);
    await service.stop();
  });

  it('is off in production, together with the document', async () => {
    const service = await startService({ env: { NODE_ENV: 'production', HOST: '127.0.0.1' } });

    for (const path of [
      '/',
      '/docs',
      '/docs/',
      '/docs/index.html',
      '/docs/swagger-ui.css',
      '/docs/%2e%2e/docs/swagger-ui.css',
      '/docs-json',
      '/docs-yaml',
      '/openapi.json',
      '/openapi.yaml',
      '/%64ocs',
    ]) {
      expect(await service.anyone.get(path), path).toMatchObject(notFound);
    }
    await service.stop();
  });

  it('serves no other file', async () => {
    const service = await startService();

    for (const path of [
      '../package.json',
      '..%2fpackage.json',
      '%2e%2e/%2e%2e/package.json',
      '....//package.json',
    ]) {
      const answer = await sendBytes(service, requestBytes(`GET /docs/${path}`));
      expect(answer?.status, path).toBeGreaterThanOrEqual(400);
    }
    await service.stop();
  });
});
