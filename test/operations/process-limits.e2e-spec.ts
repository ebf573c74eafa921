import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { hangTimeoutMs, within } from '../../tooling/wait.js';
import type { FeedPage } from '../support/feed.js';
import { anInstallation } from '../support/installation.js';
import {
  jsonRequest,
  keptAliveRequest,
  type OpenConnection,
  openConnection,
} from '../support/connections.js';
import { anEmail, aPassword } from '../support/personas.js';
import { BUILT_SERVICE, exitCode, spawnCommand, untilListening } from '../support/service-process.js';
import { clientOf } from '../support/service-client.js';
import { aServiceClient } from '../support/services.js';

const OPEN_FILES = 160;

const installation = await anInstallation();
const command = `ulimit -n ${OPEN_FILES}; exec "$@"`;
const service = spawnCommand(
  ['sh', '-c', command, 'sh', ...BUILT_SERVICE],
  installation.directory,
  installation.env,
);
const url = await untilListening(service);

const connections: OpenConnection[] = [];
afterAll(async () => {
  for (const { socket } of connections) socket.destroy();
  service.child.kill('SIGTERM');
  await exitCode(service);
  await installation.remove();
});

// Elsewhere threads have no priority of their own.
it.runIf(process.platform === 'linux')('hashes on threads of lower priority than the event loop', () => {
  const tasks = `/proc/${service.child.pid}/task`;
  const threads = readdirSync(tasks).map((id) => ({
    name: readFileSync(`${tasks}/${id}/comm`, 'utf8').trim(),
    niceness: getPriority(Number(id)),
  }));
  const own = getPriority();
  const hashing = threads.filter(({ name }) => name === 'libuv-worker');
  expect(hashing.length).toBeGreaterThan(0);
  for (const { niceness } of hashing) expect(niceness).toBeGreaterThan(own);
  for (const { name, niceness } of threads.filter((thread) => !hashing.includes(thread))) {
    expect(niceness, name).toBe(own);
  }
});

describe('a service that may open few files', () => {
  async function ask(path: string): Promise<OpenConnection> {
    const connection = await openConnection(url);
    connections.push(connection);
    connection.socket.write(keptAliveRequest(`GET ${path}`));
    const answered = once(connection.socket, 'data');
    await within(`${path} is answered`, hangTimeoutMs(), Promise.race([answered, connection.closed]));
    return connection;
  }

  it('answers on every new connection, and closes the one that has been idle for longest', async () => {
    const half = await openConnection(url);
    half.socket.write(jsonRequest('POST /api/auth/login', {}).slice(0, -1));
    const { authorization } = await aServiceClient(installation.db, ['events']);
    const feed = await fetch(`${url}/api/events`, { headers: { authorization } });
    const path = `/api/events?after=${((await feed.json()) as FeedPage).next}&wait=15`;
    const busy = await openConnection(url);
    busy.socket.write(keptAliveRequest(`GET ${path}`, [`Authorization: ${authorization}`]));

    for (let count = 0; count < 2 * OPEN_FILES; count += 1) {
      expect((await ask('/health/live')).statuses()).toEqual([200]);
    }
    expect(half.socket.closed).toBe(true);
    if (busy.statuses().length === 0) {
      const answered = once(busy.socket, 'data');
      const body = { email: anEmail(), password: aPassword() };
      await clientOf(url)('POST', '/api/auth/register', { body });
      await within('the busy one is answered', hangTimeoutMs(), answered);
    }
    busy.socket.destroy();
    expect(busy.statuses()).toEqual([200]);
    expect((await ask('/health/ready')).statuses()).toEqual([200]);

    const isClosed = connections.map(({ socket }) => socket.closed);
    const kept = isClosed.lastIndexOf(true) + 1;
    expect(isClosed.slice(0, kept)).not.toContain(false);
    expect(connections.length - kept).toBeGreaterThan(OPEN_FILES / 4);
    expect(service.logs.filter((line) => line.includes('connections'))).toHaveLength(1);
  });
});
