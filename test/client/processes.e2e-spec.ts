import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fileStore } from '../../client/src/file-store.ts';
import { createClient } from '../../client/src/index.ts';
import { anEmail, aPassword } from '../support/personas.js';
import { type Service, startServiceWithoutLimits } from '../support/service.js';

let service: Service;
let directory: string;
let file: string;

beforeAll(async () => {
  service = await startServiceWithoutLimits();
  directory = await mkdtemp(join(tmpdir(), 'accounts-client-'));
  file = join(directory, 'login');
  const client = createClient({ baseUrl: service.url, store: fileStore(file) });
  await client.register({ email: anEmail(), password: aPassword() });
});
afterAll(async () => {
  await rm(directory, { recursive: true });
  await service.stop();
});

function aProcess(...how: string[]): ChildProcess {
  const program = join(import.meta.dirname, 'support/refreshing.ts');
  return spawn(process.execPath, [program, service.url, file, ...how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const output = (process: ChildProcess): Promise<string> => text(process.stdout!);

it('stays logged in while several processes refresh at once', async () => {
  const before = await generation();
  const said = await Promise.all(Array.from({ length: 4 }, () => output(aProcess())));

  expect(said).toEqual(Array.from({ length: 4 }, () => 'logged in\n'));
  expect((await generation()) - before).toBe(4);
});

it('stays logged in after a process was killed before it stored the new token', async () => {
  const killed = aProcess('hang');
  await once(killed.stdout!, 'data');
  const next = output(aProcess());
  killed.kill('SIGKILL');

  expect(await next).toBe('logged in\n');
  expect(await output(aProcess())).toBe('logged in\n');
});

async function generation(): Promise<number> {
  const stored = await fileStore(file).load();
  return Number(stored!.split('.')[1]);
}
