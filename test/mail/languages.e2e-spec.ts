import { randomUUIDv7 } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { invite, verified } from '../support/inviting.js';
import { shownHeader } from '../support/mail-server.js';
import { type Account, anAccount, anEmail, anOrgOf } from '../support/personas.js';
import { insertRow } from '../support/rows.js';
import { MailingInstallation } from './mailing-installation.js';

const PRODUCT = 'Bücher & Söhne';

const mailing = await MailingInstallation.create();
const templates = join(mailing.installation.directory, 'templates');
for (const [file, text] of [
  ['password-reset.txt', 'Subject: Own\n\nOwn {{code}}\n'],
  ['fr/password-reset.txt', 'Subject: Réinitialisation\n\nVotre code : {{code}}\n'],
  ['de-CH/email-change-asked.txt', 'Subject: Grüezi\n\nGrüezi {{email}}\n'],
] as const) {
  await mkdir(join(templates, file, '..'), { recursive: true });
  await writeFile(join(templates, file), text);
}
const mailServer = await mailing.startMailServer();
const service = await mailing.startService(mailServer.url, {
  MAIL_TEMPLATES: templates,
  MAIL_PRODUCT_NAME: PRODUCT,
  RATE_LIMIT_FORGOT: 'off',
});
afterAll(() => mailing.remove());

async function aReader(locale: string | null, name?: string): Promise<Account> {
  const account = await anAccount(service);
  const changed = await account.patch('/api/me/profile', { locale, ...(name !== undefined && { name }) });
  expect(changed.status, changed.text).toBe(200);
  await verified(mailing.db, account);
  return account;
}

async function received(email: string) {
  const { subject, text } = await mailServer.next(email);
  return { subject: shownHeader(subject), text: text.replaceAll('\r\n', '\n'), sent: subject };
}

it.each([
  [null, 'Own', /^Own [0-9A-Z]{5}-/],
  ['en-GB', 'Own', /^Own/],
  ['de-AT', 'Ihr Code zum Zurücksetzen des Passworts', /möchte für das Konto/],
  ['fr-CA', 'Réinitialisation', /^Votre code : /],
])('an email to a user with the locale %s is called "%s"', async (locale, subject, text) => {
  const { email } = await aReader(locale);
  await service.anyone.post('/api/auth/password/forgot', { email });
  const mail = await received(email);
  expect(mail.subject).toBe(`[${PRODUCT}] ${subject}`);
  expect(mail.sent).toMatch(/^[ -~]+$/);
  expect(mail.text).toMatch(text);
});

it('falls back from a language without this text to a wider one, and then to the default', async () => {
  for (const [locale, asked, reset] of [
    ['de-CH', 'Grüezi', 'Ihr Code zum Zurücksetzen des Passworts'],
    ['fr', 'Someone asked to change your email address', 'Réinitialisation'],
  ] as const) {
    const { email, password, ...user } = await aReader(locale).then((account) =>
      Object.assign(account, { account }),
    );
    await user.account.put('/api/me/email', { email: anEmail('new'), password });
    expect((await received(email)).subject).toBe(`[${PRODUCT}] ${asked}`);
    await service.anyone.post('/api/auth/password/forgot', { email });
    await mailServer.next(email, 2);
    expect((await received(email)).subject).toBe(`[${PRODUCT}] ${reset}`);
  }
});

it('is in the language of its sender if nobody has the address, and in that of its owner if somebody does', async () => {
  const owner = await aReader('de', 'Zoë Müller "(verified)" ada@evil.example');
  const org = await anOrgOf(owner, 'Bücher');
  const [guest, friend] = [anEmail('guest'), await aReader('en')];
  for (const email of [guest, friend.email])
    expect((await invite(owner, org, { email, showCode: false })).status).toBe(201);

  const [address, domain] = [owner.email.replace('@', ' @ ').replace('.com', '. com'), 'evil. example'];
  const inviter = `"Zoë Müller '(verified)' ada @ ${domain}" (${address})`;
  const german = await received(guest);
  expect(german.subject).toBe(`[${PRODUCT}] Sie wurden in eine Organisation eingeladen`);
  expect(german.text).toContain(`${inviter} lädt Sie (${guest}) in diese Organisation bei ${PRODUCT} ein:`);
  const english = await received(friend.email);
  expect(english.subject).toBe(`[${PRODUCT}] You are invited to an organization`);
  expect(english.text).toContain(`${inviter} invites you (${friend.email})`);

  const stranger = await anAccount(service);
  await stranger.patch('/api/me/profile', { locale: 'de-AT', name: 'Ada\u200B' });
  const other = anEmail('guest');
  await invite(stranger, await anOrgOf(stranger), { email: other, showCode: false });
  expect((await received(other)).text).toContain(', eine nicht bestätigte Adresse) lädt Sie');
});

it.each([
  ['key_created', null, 'You have a new API key', 'Name', 'Service'],
  ['key_created', 'de-AT', 'Sie haben einen neuen API-Schlüssel', 'Name', 'Dienst'],
  ['key_reported', 'fr', 'Your API key was found and revoked', 'Name', 'Service'],
  ['key_reported', 'de', 'Ihr API-Schlüssel wurde gefunden und widerrufen', 'Name', 'Dienst'],
])('%s for the locale %s is called "%s" and shows the API key', async (kind, locale, subject, name, of) => {
  const reader = await aReader(locale);
  const notice = (keyName: string) =>
    insertRow(mailing.db, 'mails', {
      id: randomUUIDv7(),
      kind,
      recipient: reader.email,
      sender_id: reader.id,
      state: 'waiting',
      created_at: Date.parse('2026-01-02T09:30Z'),
      next_attempt_at: 0,
      details: JSON.stringify({ name: keyName, service: 'billing' }),
    });
  await notice('https://evil.example/ "\u202E<b>ada@evil.example');
  const mail = await received(reader.email);
  expect(mail.subject).toBe(`[${PRODUCT}] ${subject}`);
  expect(mail.text).toContain(
    `    ${name}: https: / /evil. example/ '<b>ada @ evil. example\n    ${of}: billing\n`,
  );
  expect(mail.text.replaceAll(/\s+/g, ' ')).toMatch(/2026 (?:at|à|um) 09:30 UTC\)/);
  expect(mail.text).toContain(reader.email);

  await notice('\u200B'.repeat(60));
  await mailServer.next(reader.email, 2);
  expect((await received(reader.email)).text).toContain(`    ${name}: -\n`);
});

it.each([
  [null, 'Your account was linked to a provider', 'Provider'],
  ['de-AT', 'Ihr Konto wurde mit einem Anbieter verknüpft', 'Anbieter'],
])(
  'identity_linked for the locale %s is called "%s" and shows the provider',
  async (locale, subject, label) => {
    const reader = await aReader(locale);
    await insertRow(mailing.db, 'mails', {
      id: randomUUIDv7(),
      kind: 'identity_linked',
      recipient: reader.email,
      sender_id: reader.id,
      state: 'waiting',
      created_at: Date.parse('2026-01-02T09:30Z'),
      next_attempt_at: 0,
      details: JSON.stringify({ provider: 'Acme "SSO" https://acme.example' }),
    });
    const mail = await received(reader.email);
    expect(mail.subject).toBe(`[${PRODUCT}] ${subject}`);
    expect(mail.text).toContain(`    ${label}: Acme 'SSO' https: / /acme. example\n`);
    expect(mail.text).toContain(reader.email);
  },
);

it('is not sent if the user of its API key was deleted meanwhile', async () => {
  const reader = await aReader(null);
  const mail = { kind: 'key_created', recipient: reader.email, sender_id: reader.id, created_at: 1 };
  const details = JSON.stringify({ name: 'Deploy', service: 'billing' });
  const later = { state: 'waiting', next_attempt_at: Date.now() + 3_600_000, details };
  await insertRow(mailing.db, 'mails', { id: randomUUIDv7(), ...mail, ...later });
  expect((await reader.delete('/api/me', { password: reader.password })).status).toBe(200);
  expect(await mailing.db.query('SELECT details FROM mails WHERE sender_id = ?', [reader.id])).toEqual([
    { details: null },
  ]);
  await mailing.db.query('UPDATE mails SET next_attempt_at = 1 WHERE sender_id = ?', [reader.id]);
  await waitFor(
    'the email is dropped',
    hangTimeoutMs(),
    async () => (await mailing.db.query('SELECT 1 FROM mails WHERE sender_id = ?', [reader.id])).length === 0,
  );
  expect(mailServer.to(reader.email)).toEqual([]);
});
