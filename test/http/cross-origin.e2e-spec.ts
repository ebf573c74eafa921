import { afterAll, describe, expect, it } from 'vitest';
import { anAccount } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const EXPOSED = [
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'WWW-Authenticate',
  'Link',
  'ETag',
  'Dry-Run',
  'Idempotency-Replayed',
];
const REQUEST_HEADERS = ['authorization', 'x-request-id', 'traceparent', 'if-match', 'idempotency-key'];

const [closed, open] = await Promise.all([
  startService(),
  startService({ env: { CORS_ORIGINS: 'tauri://localhost, https://app.example.com' } }),
]);
afterAll(() => Promise.all([closed.stop(), open.stop()]));

describe('cross-origin requests', () => {
  const preflight = (service: Service, origin: string, method: string) =>
    service.anyone
      .with({
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
      })
      .send('OPTIONS', '/api/orgs/x/members/y');

  it('are not allowed unless configured', async () => {
    const answer = await closed.anyone.with({ origin: 'https://app.example.com' }).get('/health/live');

    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    const asked = await preflight(closed, 'https://app.example.com', 'PATCH');
    expect(asked.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each(['tauri://localhost', 'https://app.example.com'])('are allowed from %s', async (origin) => {
    const ada = await anAccount(open, 'ada');

    const answer = await ada.with({ origin }).get('/api/me');
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('vary')).toMatch(/origin/i);
    const exposed = answer.headers.get('access-control-expose-headers')?.split(/,\s*/);
    expect(exposed).toEqual(expect.arrayContaining(EXPOSED));

    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST', 'GET']) {
      const asked = await preflight(open, origin, method);
      expect(asked.status).toBe(204);
      expect(asked.headers.get('access-control-allow-origin')).toBe(origin);
      expect(asked.headers.get('access-control-allow-methods')).toContain(method);
      const allowed = asked.headers.get('access-control-allow-headers')?.toLowerCase().split(/,\s*/);
      expect(allowed).toEqual(expect.arrayContaining(REQUEST_HEADERS));
    }
  });

  it('see errors too', async () => {
    const origin = 'https://app.example.com';

    for (const path of ['/api/me', '/api/nothing', '/api/auth/login']) {
      const answer = await open.anyone.with({ origin }).get(path);
      expect(answer.headers.get('access-control-allow-origin'), path).toBe(origin);
    }
  });

  it.each([
    'null',
    'https://evil.example',
    'https://app.example.com.evil.example',
    'https://evil-app.example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://APP.EXAMPLE.COM',
    'tauri://localhost.evil.example',
    '*',
  ])('are not allowed from %s', async (origin) => {
    const answer = await open.anyone.with({ origin }).get('/health/live');
    const asked = await preflight(open, origin, 'PATCH');

    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(asked.headers.get('access-control-allow-origin')).toBeNull();
  });
});
