import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Express } from 'express';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts } from '../support/accounts-command.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount, anOrgOf } from '../support/personas.js';
import { AuthenticatorApp } from '../support/second-factor.js';
import { type Instance, startOwnService } from '../support/service.js';
import { Terminal } from '../support/terminal.js';
import { expectPrinted, outputOf } from './support/outputs.js';
import { run, snippetsOf } from './support/page-program.js';

const ROOT = resolve(import.meta.dirname, '../..');
const MAX_LINES = 60;
const plain = (shown: string): string => stripVTControlCharacters(shown).replaceAll('\r', '');

describe('a quick start', () => {
  let installation: Installation;
  let service: Instance;
  let mails: string;

  beforeAll(async () => {
    installation = await anInstallation();
    mails = join(installation.directory, 'mails');
    service = await startOwnService({ installation, env: { SMTP_URL: `file:${mails}` } });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await service.stop();
    await installation.remove();
  });

  it.each(['client', 'service', 'operator'])('for a %s fits on a page', (reader) => {
    const lines = readFileSync(join(ROOT, `docs/quickstart-${reader}.md`), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
  });

  it('begins with the first requests of README.md', () => {
    const requests = snippetsOf('README.md', 'sh').find((snippet) => snippet.startsWith('BASE='))!;
    const script = requests.replace(/BASE=.*/, `BASE=${service.url}`);
    const { stdout, stderr } = spawnSync('sh', ['-euc', script], { encoding: 'utf8' });

    expect(stderr).toBe('');
    expectPrinted(stdout, outputOf('README.md', '{"org":'));
  });

  it('logs a client in, and finds it logged in after a restart', async () => {
    const page = 'docs/quickstart-client.md';
    const program = snippetsOf(page, 'js')[0]!
      .replace('http://127.0.0.1:3000', service.url)
      .replace('./session', join(installation.directory, 'session'));
    const lines: string[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    await run(join(installation.directory, 'first.mjs'), program);
    await run(join(installation.directory, 'second.mjs'), program);
    log.mockRestore();

    expectPrinted(lines.join('\n'), outputOf('docs/quickstart-client.md', 'registered'));
    await waitFor(
      'the email is a file',
      hangTimeoutMs(),
      () => existsSync(mails) && readdirSync(mails).length === 1,
    );
  });

  it('guards a route of a service: 200, 401, 403', async () => {
    const page = 'docs/quickstart-service.md';
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const org = await anOrgOf(ada);
    const [command] = snippetsOf(page, 'sh');
    const [, words] = /npm run --silent accounts -- (.*) --reason/.exec(command!)!;
    const { stdout: added } = await accounts(installation, [...words!.split(' '), '--reason', 'quick start']);
    const secret = /^secret: (acs_\S+)$/m.exec(added)![1]!;
    expectPrinted(added, outputOf('docs/quickstart-service.md', 'billing: added'));

    installation.secrets.note(secret);
    vi.stubEnv('ACCOUNTS_SECRET', secret);
    const port = await freePort();
    const program = snippetsOf(page, 'js')[0]!
      .replace('http://127.0.0.1:3000', service.url)
      .replace('app.listen(4000,', `export const server = app.listen(${port},`);
    const file = join(installation.directory, 'server.mjs');
    const { guard, server } = (await run(file, `${program}\nexport { guard };`)) as {
      guard: { close(): Promise<void> };
      server: ReturnType<Express['listen']>;
    };
    const get = async (token?: string, orgId = org.id) => {
      const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      const answer = await fetch(`http://127.0.0.1:${port}/orgs/${orgId}/invoices`, { headers });
      return { status: answer.status, body: await answer.json() };
    };

    const otherOrg = /orgs\/([0-9a-f-]{36})\/invoices/.exec(snippetsOf(page, 'sh').join('\n'))![1]!;
    const answered = [await get(ada.token), await get(ada.token, otherOrg), await get()];
    expect(answered.map(({ status }) => status)).toEqual([200, 403, 401]);
    const answers = answered.map(({ body }) => JSON.stringify(body)).join('\n');
    expectPrinted(answers, outputOf('docs/quickstart-service.md', '{"userId"'));
    expect(await get(grace.token)).toMatchObject({ status: 403, body: { code: 'not_a_member' } });
    await guard.close();
    server.close();
  });

  it('prints the state of an instance', async () => {
    const state = await (await fetch(`${service.url}/health/ready`)).text();
    expectPrinted(state, outputOf('docs/quickstart-operator.md', '{"status"'));
    expectPrinted(state, outputOf('docs/deploy-systemd.md', '{"status"'));
  });

  it('answers mistakes as the list of error codes shows', async () => {
    const request = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
    const body = JSON.stringify({ email: 'ada', password: 'correct horse battery' });
    const answer = await fetch(`${service.url}/api/auth/register`, { ...request, body });
    expectPrinted(await answer.text(), outputOf('docs/reference/errors.md', '{'));
  });

  it('shows on a terminal what starts', async () => {
    const main = join(ROOT, 'dist/main.js');
    const database = `sqlite:${join(installation.directory, 'shown.sqlite')}`;
    const env = { PORT: String(await freePort()), DATABASE_URL: database };
    const terminal = Terminal.run(installation, () => `'${process.execPath}' '${main}'`, { env });
    const [listening] = await terminal.until(/^.*listening\r\n(?: {4}.*\r\n)+/m);
    await terminal.close();

    expectPrinted(plain(listening), outputOf('README.md', '[10:05'));
  });

  it('creates the first operator', async () => {
    const page = 'docs/quickstart-operator.md';
    const [, words] = /accounts (operators create \S+) --reason/.exec(
      readFileSync(join(ROOT, page), 'utf8'),
    )!;
    const parameters = words!.replace('ada@', 'operator@').split(' ');
    const terminal = Terminal.open(installation, parameters);
    const [, secret] = await terminal.until(/[?&]secret=([A-Z2-7]{32})&/);
    await terminal.until(/app shows: /);
    terminal.type(`${new AuthenticatorApp(secret!).next()}\r`);
    const { stdout } = await terminal.result();
    const printed = plain(`${terminal.shown}${stdout}`);
    expectPrinted(
      printed.replaceAll('operator@', 'ada@'),
      outputOf('docs/quickstart-operator.md', 'Scan this'),
    );
  });
});
