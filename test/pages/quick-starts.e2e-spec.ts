import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Express } from 'express';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../tooling/servers/free-port.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts } from '../support/accounts-command.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount, anOrgOf } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { run, snippetsOf } from './support/page-program.js';

const ROOT = resolve(import.meta.dirname, '../..');
const MAX_LINES = 60;

/** The outputs of a page: its blocks without a language. */
const outputsOf = (page: string): string[] => snippetsOf(page, '').map((text) => text.trim());
const shape = (text: string): string =>
  text.replaceAll(/\b[0-9a-f-]{36}\b/g, '019a…').replace(/acs_\S+/, 'acs_…');

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

    expect([shape(stdout), stderr]).toEqual([outputsOf('README.md')[1], '']);
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

    expect(lines.join('\n')).toBe(outputsOf(page)[1]);
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
    expect(shape(added).trim()).toBe(outputsOf(page)[0]);

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
    const get = async (token?: string) => {
      const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      const answer = await fetch(`http://127.0.0.1:${port}/orgs/${org.id}/invoices`, { headers });
      return { status: answer.status, body: await answer.json() };
    };

    expect(await get(ada.token)).toEqual({ status: 200, body: { userId: ada.id, role: 'owner' } });
    expect(await get()).toEqual({
      status: 401,
      body: JSON.parse(outputsOf(page)[1]!.split('\n')[1]!) as unknown,
    });
    expect(await get(grace.token)).toMatchObject({ status: 403, body: { code: 'not_a_member' } });
    await guard.close();
    server.close();
  });

  it.each(['quickstart-operator', 'deploy-systemd'])('prints the state of an instance: %s', async (name) => {
    const answer = await fetch(`${service.url}/health/ready`);
    expect(outputsOf(`docs/${name}.md`)[0]).toBe(await answer.text());
  });
});
