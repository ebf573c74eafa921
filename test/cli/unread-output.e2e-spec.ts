import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SCHEMA } from '../../src/app/schema.js';
import { parseEnv } from '../../src/config/env.js';
import { migrate } from '../../src/database/migrate.js';
import { accountsJson } from '../support/accounts-command.js';
import { anInstallation, type Installation } from '../support/installation.js';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const COMMAND = [MAIN, 'services', 'list'];

let installation: Installation;

beforeAll(async () => {
  installation = await anInstallation();
  await migrate(parseEnv(installation.env), SCHEMA);
  await accountsJson(installation, ['services', 'add', 'billing', '--reason', 'a test']);
});
afterAll(() => installation.remove());

const options = () => ({
  cwd: installation.directory,
  env: { ...installation.env, PATH: process.env['PATH'] },
});

it('ends a command as SIGPIPE would, where nobody reads its output', async () => {
  const command = spawn(process.execPath, COMMAND, { ...options(), stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(command, 'exit');
  command.stdout.destroy();
  expect(await ended).toEqual([141, null]);
});

it('ends it with a message, where its output cannot be written', async () => {
  const full = openSync('/dev/full', 'w');
  const command = spawn(process.execPath, COMMAND, { ...options(), stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  const [[code], said] = await Promise.all([once(command, 'exit'), text(command.stderr!)]);
  expect([code, said]).toEqual([2, 'error: standard output cannot be written (ENOSPC)\n']);
});
