import { afterAll, describe, expect, it } from 'vitest';
import {
  addProvider,
  aDomain,
  aUserAt,
  browserOf,
  emailAt,
  finishAt,
  ISSUER,
  startAt,
  textOf,
} from '../support/at-providers.js';
import { invalidProviderLogin, providerEmailRefused } from '../support/expected.js';
import { anInstallation } from '../support/installation.js';
import { TestProvider } from '../support/provider.js';
import { type Service, startService } from '../support/service.js';

const ENV = { JWT_ISSUER: ISSUER, TRUST_PROXY: '127.0.0.1' };

const provider = await TestProvider.start();
const service = await startService({ env: { ...ENV, CROSS_DEVICE_LOGIN: 'anywhere' } });
afterAll(async () => {
  provider.stop();
  await service.stop();
});

const domain = aDomain();
const acme = await addProvider(service, provider, { domains: [domain], createUsers: true });
const PASTED = { redirectUri: undefined };

/** The program and the browser have addresses of their own. */
async function pageAt(
  at: Service,
  subject: string | undefined,
  from: Record<'program' | 'browser', string>,
  added = acme,
) {
  const headers = { 'x-forwarded-for': from.program, 'user-agent': 'acme-tool/1.2 <b>you</b>' };
  const program = { anyone: at.anyone.with(headers), installation: at.installation };
  const { authorizationUrl, codeVerifier } = await startAt(program, added.name, PASTED);
  const visit = await browserOf(at, added, subject, { 'x-forwarded-for': from.browser }).visit(
    authorizationUrl,
  );
  const text = await textOf(visit);
  const code = text.split('\n', 1)[0]!;
  at.installation.secrets.note(code);
  return { response: visit.response!, text, code, codeVerifier };
}

const HERE = { program: '203.0.113.7', browser: '198.51.100.7' };

describe('a code to paste', () => {
  it('stands on a page that names the program, its IP address and the time, and works for five minutes', async () => {
    const email = emailAt(domain);
    const { response, text, code, codeVerifier } = await pageAt(service, aUserAt(acme, email), HERE);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const [, ...lines] = text.trimEnd().split('\n');
    expect(lines).toEqual([
      '',
      'Enter it only into a program that you have just started yourself.',
      '',
      'Program: acme-tool',
      'IP address: 203.0.113.7',
      expect.stringMatching(/^Started: \d{4}-\d\d-\d\d \d\d:\d\d UTC$/),
    ]);
    const sql = 'SELECT expires_at - created_at AS ttl FROM provider_logins WHERE email = ?';
    expect(await service.db.query(sql, [email])).toEqual([{ ttl: 300_000 }]);
    const { body } = await finishAt(service, { code, codeVerifier });
    expect(body.user.email).toBe(email);
  });

  it('says in one sentence why there is none', async () => {
    const { response, text } = await pageAt(service, undefined, HERE);
    expect(response.status).toBe(200);
    expect(text).toBe('Your provider refused the login.\n');
  });

  it('is void ten tries later, as one of a redirect', async () => {
    const subject = aUserAt(acme, 'ada@other.example');
    const { code, codeVerifier } = await pageAt(service, subject, HERE);
    for (let tries = 0; tries < 10; tries += 1)
      expect(await finishAt(service, { code, codeVerifier })).toMatchObject(providerEmailRefused);
    expect(await finishAt(service, { code, codeVerifier })).toMatchObject(invalidProviderLogin);
  });
});

describe('CROSS_DEVICE_LOGIN', () => {
  it('same-network requires one network of browser and program', async () => {
    const strict = await startService({ env: { ...ENV, CROSS_DEVICE_LOGIN: 'same-network' } });
    const added = await addProvider(strict, provider, { domains: [domain], createUsers: true });
    const near = { ...HERE, browser: '203.0.113.8' };
    const { text, code, codeVerifier } = await pageAt(strict, aUserAt(added, emailAt(domain)), near, added);
    expect(text).toContain('Program: acme-tool');
    expect((await finishAt(strict, { code, codeVerifier })).status).toBe(200);
    const far = await pageAt(strict, aUserAt(added, emailAt(domain)), HERE, added);
    expect(far.text).toMatch(/^This browser and your program are in different networks/);
    await strict.stop();
  });

  it('off ends logins that started before', async () => {
    const installation = await anInstallation();
    const anywhere = await startService({ installation, env: { ...ENV, CROSS_DEVICE_LOGIN: 'anywhere' } });
    const added = await addProvider(anywhere, provider, { domains: [domain], createUsers: true });
    const { authorizationUrl } = await startAt(anywhere, added.name, PASTED);
    await anywhere.stop();
    const off = await startService({ installation, env: ENV });
    const visit = await browserOf(off, added, aUserAt(added, emailAt(domain))).visit(authorizationUrl);
    expect(visit.response!.status).toBe(400);
    expect(await textOf(visit)).toMatch(/^This login is no longer valid/);
    await off.stop();
    await installation.remove();
  });
});
