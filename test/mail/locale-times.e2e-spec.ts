import { randomUUIDv7 } from 'node:crypto';
import { expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { verified } from '../support/inviting.js';
import { startMailing } from '../support/mailing.js';
import { type Account, anAccount } from '../support/personas.js';
import { insertRow } from '../support/rows.js';
import { NO_LIMITS } from '../support/service.js';

const PRODUCT = 'Bücher & Söhne';
const AT = Date.parse('2026-01-01T23:00Z');
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';
const CHROME =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/604.1';

const { service, mailServer } = await startMailing({
  ...NO_LIMITS,
  MAIL_PRODUCT_NAME: PRODUCT,
  MAIL_TIME_ZONE: 'Asia/Kolkata',
});

async function aReader(locale: string | null): Promise<Account> {
  const anyone = service.anyone.with({ 'user-agent': FIREFOX });
  const account = await anAccount({ ...service, anyone }, 'ada');
  expect((await account.patch('/api/me/profile', { locale })).status).toBe(200);
  await verified(service.db, account);
  return account;
}

it.each([
  [null, 'account EMAIL at PRODUCT was changed', '2 January 2026 at 04:30 GMT+5:30'],
  ['en-US', 'account EMAIL at PRODUCT was changed', 'January 2, 2026 at 4:30 AM GMT+5:30'],
  ['de-AT', 'Kontos EMAIL bei PRODUCT wurde geändert', '2. Jänner 2026 um 04:30 GMT+5:30'],
  ['fr', 'account EMAIL at PRODUCT was changed', '2 janvier 2026 à 04:30 UTC+5:30'],
])(
  'an email to a reader with the locale %s names the product, and the time in their words',
  async (locale, what, time) => {
    const { id: senderId, email } = await aReader(locale);
    const mail = { id: randomUUIDv7(), kind: 'password_changed', recipient: email, sender_id: senderId };
    await insertRow(service.db, 'mails', { ...mail, state: 'waiting', created_at: AT, next_attempt_at: 0 });
    const { text } = await mailServer.next(email);
    const words = what.replace('EMAIL', email).replace('PRODUCT', PRODUCT);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(`${words} (${time}).`);
  },
);

it.each([
  [null, CHROME, 'Program: Chrome on macOS'],
  ['de', CHROME, 'Programm: Chrome unter macOS'],
  ['de-CH', SAFARI, 'Programm: Safari unter iOS'],
  [null, 'curl/8.1', 'Program: curl'],
  [null, 'evil.example/1 (Android 16; Linux)', 'Program: evil. example on Android'],
  [null, '(Windows)', 'Program: -'],
])(
  'an email about a login, to a reader with the locale %s, by %s, says "%s"',
  async (locale, agent, line) => {
    const { email, password } = await aReader(locale);
    const anyone = service.anyone.with({ 'user-agent': agent });
    expect((await anyone.post('/api/auth/login', { email, password })).status).toBe(200);
    const { text } = await mailServer.next(email);
    expect(text.split('\n').map((one) => one.trim())).toContain(line);
  },
);

it('shows the whole user agent that an instance of the previous version has noted', async () => {
  const { id: senderId, email } = await aReader(null);
  const mail = { id: randomUUIDv7(), kind: 'new_sign_in', recipient: email, sender_id: senderId };
  const details = JSON.stringify({ ip: '203.0.113.7', user_agent: 'Chrome/140. 0', device: '-' });
  await insertRow(service.db, 'mails', {
    ...mail,
    details,
    state: 'waiting',
    created_at: AT,
    next_attempt_at: 0,
  });
  await waitFor('the email has come', hangTimeoutMs(), () => mailServer.to(email).length === 1);
  expect(mailServer.to(email)[0]!.text).toMatch(/^ {4}Program: Chrome\/140\. 0$/m);
});
