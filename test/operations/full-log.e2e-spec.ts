import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../../tooling/servers/free-port.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { anInstallation } from '../support/installation.js';

const MAIN = resolve(import.meta.dirname, '../../dist/main.js');
const REQUESTS = 100;

it('goes on where the disk of its log is full, and stops when it is told to', async () => {
  const installation = await anInstallation();
  const url = `http://127.0.0.1:${await freePort()}`;
  const full = openSync('/dev/full', 'w');
  const service = spawn(process.execPath, [MAIN], {
    cwd: installation.directory,
    env: {
      ...installation.env,
      PATH: process.env['PATH'],
      PORT: new URL(url).port,
      JWT_KEYS_FILE: join(installation.directory, 'full-log-jwks.json'),
    },
    stdio: ['ignore', full, 'inherit'],
  });
  closeSync(full);
  const ended = once(service, 'exit');
  const isLive = () =>
    fetch(`${url}/health/live`).then(
      ({ status }) => status === 200,
      () => false,
    );
  try {
    await waitFor('the service listens', hangTimeoutMs(), isLive);
    for (let count = 0; count < REQUESTS; count += 1) {
      expect((await fetch(`${url}/api/me`)).status).toBe(401);
    }
  } finally {
    service.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
  await installation.remove();
});
