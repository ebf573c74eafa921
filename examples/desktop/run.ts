import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startAccounts } from 'accounts-client/testing';
import { openEngineRoom } from '../handoff/service.ts';

console.log('Accounts starts on a database that is deleted at the end. Its emails appear here.');
const mails = await mkdtemp(join(tmpdir(), 'engine-room-'));
watch(mails, (_event, name) => {
  if (name?.endsWith('.eml')) void readFile(join(mails, name), 'utf8').then(console.log, () => undefined);
});
const directory = resolve(import.meta.dirname, '../..');
const accounts = await startAccounts({ directory, env: { SMTP_URL: `file:${mails}` } });
const engineRoom = await openEngineRoom(accounts.url, '', await accounts.addService('engine-room'));
try {
  const env = { ...process.env, ACCOUNTS_URL: accounts.url, ENGINE_ROOM_URL: engineRoom.url };
  const program = spawn('npm', ['start'], { cwd: import.meta.dirname, env, stdio: 'inherit' });
  await once(program, 'exit');
} finally {
  await engineRoom.close();
  await accounts.close();
  await rm(mails, { recursive: true });
}
