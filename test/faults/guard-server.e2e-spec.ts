import { connect, type Socket } from 'node:net';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { residentMib } from '../../tooling/processes/usage.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Door } from '../client/support/door.js';
import { accountsJson } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { backUp } from '../support/backup.js';
import { MovableClock } from '../support/clock.js';
import { keptAliveRequest, openConnection } from '../support/connections.js';
import { clientOf } from '../support/service-client.js';
import { aServiceClient } from '../support/services.js';
import { decodeToken, replaceKeysFile } from '../support/signing-keys.js';
import { Sidecar } from '../support/sidecar.js';
import {
  askOf,
  closeAfterAll,
  closeAfterTest,
  PASSWORD,
  register,
  RestartableService,
  Storage,
} from './support/deployment.js';
import { report } from './support/figures.js';

const LATE_MS = 900;
const CLOCK_STEP_MS = 25_000;
const HALF_HEADERS = 2_000;
const UNREAD = 500;
const MOST_FILES = 64;
/** Far more than a sidecar at rest has, and far less than what a leak for each connection would need. */
const MOST_MIB = 400;

const storage = await closeAfterAll(Storage.on('sqlite'));
const { installation } = storage;
const service = await closeAfterAll(RestartableService.on(storage));
await service.start();
const door = await closeAfterAll(Door.open(service.url));
const ask = askOf(clientOf(service.url));
const client = await aServiceClient(installation.db, ['introspect', 'memberships', 'events']);
const sidecar = await closeAfterAll(Sidecar.start(door.url, client));
const known = await register(clientOf(service.url));
await sidecar.get('/check', known.token);
const opened: Socket[] = [];
afterEach(() => {
  Object.assign(door, { pageStatus: undefined, lateMs: 0, isShut: false });
  for (const socket of opened.splice(0)) socket.destroy();
});
afterAll(() => service.thaw());

const aUser = () => register(clientOf(service.url));
const check = (token: string): Promise<number> => sidecar.status('/check', token);
const untilStatus = (token: string, status: number): Promise<unknown> =>
  waitFor(`the answer is ${status}`, hangTimeoutMs(), async () => (await check(token)) === status);

it.each<[string, () => unknown]>([
  ['is down', () => door.shut()],
  ['is another server, which answers HTML', () => (door.pageStatus = 200)],
  ['answers 502', () => (door.pageStatus = 502)],
])('while Accounts %s, known users pass, unseen ones get 503 and nobody 401', async (_, fault) => {
  const [unseen, later] = [await aUser(), await aUser()];
  expect(await check(known.token)).toBe(200);
  fault();
  expect(await check(known.token)).toBe(200);
  for (let time = 0; time < 3; time += 1) expect(await check(unseen.token)).toBe(503);
  Object.assign(door, { pageStatus: undefined, isShut: false });
  await untilStatus(unseen.token, 200);
  await untilStatus(later.token, 200);
  report({ faults: 1, requests: 7, wrong: 0 });
});

it('while Accounts is frozen, a check of an unseen user is 503 and not pending', async () => {
  const unseen = await aUser();
  service.freeze();
  const [pending, passed] = await Promise.all([check(unseen.token), check(known.token)]);
  service.thaw();
  expect([pending, passed]).toEqual([503, 200]);
  await untilStatus(unseen.token, 200);
  report({ faults: 1, requests: 2, wrong: 0 });
});

it('an Accounts that answers late is waited for, and its logouts are heard', async () => {
  door.lateMs = LATE_MS;
  const ada = await aUser();
  expect(await check(ada.token)).toBe(200);
  await ask(200, 'POST', '/api/auth/logout', {}, ada.token);
  await waitFor('the logout is heard', hangTimeoutMs(), async () => {
    const status = await check(ada.token);
    expect(status).not.toBe(503);
    return status === 401;
  });
  report({ faults: 1, wrong: 0 });
});

it('after a backup is restored, earlier sessions end, and new ones pass', async () => {
  const ada = await aUser();
  const restore = await backUp(installation);
  expect(await check(ada.token)).toBe(200);
  await service.stop();
  await restore();
  await accountsJson(installation, ['after-restore', '--reason', 'restored a backup']);
  await service.start();
  await untilStatus(ada.token, 401);
  const body = { email: ada.email, password: PASSWORD };
  const { token } = await ask<{ token: string }>(200, 'POST', '/api/auth/login', body);
  await untilStatus(token, 200);
  known.token = token;
  report({ faults: 1, wrong: 0 });
});

it('fails no check while its secret is rotated by its file', async () => {
  const next = await client.rotate();
  const load = { isDone: false };
  const statuses = new Set<number>();
  const ended = (async () => {
    while (!load.isDone) statuses.add(await check((await aUser()).token));
  })();
  sidecar.writeSecret(next);
  await client.revoke(client.secret);
  const unseen = await aUser();
  expect(await check(unseen.token)).toBe(200);
  await ask(200, 'POST', '/api/auth/logout', {}, unseen.token);
  await untilStatus(unseen.token, 401);
  load.isDone = true;
  await ended;
  expect([...statuses]).toEqual([200]);
  client.secret = next;
  report({ faults: 1, wrong: 0 });
});

it('answers others while connections send half a header, read nothing, or idle', async () => {
  const others = async (): Promise<void> => {
    for (let time = 0; time < 20; time += 1) expect(await check(known.token)).toBe(200);
  };
  const open = (): Promise<Socket> =>
    new Promise((done, failed) => {
      const socket = connect(sidecar.port, '127.0.0.1', () => done(socket));
      socket.once('error', failed).on('error', () => undefined);
      opened.push(socket);
    });
  const halves = await Promise.all(times(HALF_HEADERS, open));
  for (const socket of halves) socket.write('GET /check HTTP/1.1\r\nHost: x\r\nX-Half: ');
  await others();
  const greedy = await Promise.all(times(UNREAD, open));
  const request = keptAliveRequest('GET /check', [`Authorization: Bearer ${known.token}`]);
  for (const socket of greedy) socket.pause().write(request.repeat(200));
  await others();
  await Promise.all(times(500, open));
  await others();
  const mib = residentMib([sidecar.process.pid!])!;
  console.info(`${Math.round(mib)} MiB with ${HALF_HEADERS + UNREAD + 500} connections`);
  expect(mib).toBeLessThan(MOST_MIB);
  for (const socket of halves) socket.resume();
  await waitFor('half headers are closed', hangTimeoutMs(), () => halves.every((socket) => socket.destroyed));
  await others();
  report({ faults: HALF_HEADERS + UNREAD, requests: 80, wrong: 0 });
});

it('recovers when it was out of file descriptors', async () => {
  const small = await closeAfterTest(Sidecar.start(door.url, client));
  await small.process.kill();
  small.launch('sh', ['-c', `ulimit -n ${MOST_FILES}; exec "$0" "$1"`, process.execPath]);
  await small.untilReady();
  const sockets = times(100, () => {
    const socket = connect(small.port, '127.0.0.1').on('error', () => undefined);
    opened.push(socket);
    return socket;
  });
  const descriptors = `/proc/${small.process.pid!}/fd`;
  await waitFor(
    'it has no descriptors left',
    hangTimeoutMs(),
    () => readdirSync(descriptors).length === MOST_FILES,
  );
  for (const socket of sockets) socket.destroy();
  await waitFor(
    'it answers',
    hangTimeoutMs(),
    async () => (await small.status('/check', known.token)) === 200,
  );
  expect(await small.status('/health/ready')).toBe(200);
  report({ faults: 1, wrong: 0 });
});

it('continues when the reader of its log has left', async () => {
  const main = resolve(import.meta.dirname, '../../client/src/guard/main.ts');
  const other = await closeAfterTest(Sidecar.start(door.url, client));
  await other.process.kill();
  const child = spawn(process.execPath, [main], {
    env: other.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await closeAfterTest({ close: () => child.kill('SIGKILL') });
  child.stdout.destroy();
  await waitFor('it is ready', hangTimeoutMs(), async () => (await other.status('/health/ready')) === 200);
  for (let time = 0; time < 3; time += 1)
    expect(await other.status(`/check?wrong${'x'.repeat(time)}=1`)).toBe(500);
  expect(await other.status('/check', known.token)).toBe(200);
  expect(child.exitCode).toBe(null);
  report({ faults: 1, requests: 4, wrong: 0 });
});

it('continues when the disk of its log is full', async () => {
  const other = await closeAfterTest(Sidecar.start(door.url, client));
  await other.process.kill();
  other.launch('sh', ['-c', 'exec "$0" "$1" >/dev/full', process.execPath]);
  await other.untilReady();
  expect(await other.status('/check?wrong=1')).toBe(500);
  expect(await other.status('/check', known.token)).toBe(200);
  report({ faults: 1, requests: 2, wrong: 0 });
});

it('a token of a new signing key passes at once, and an earlier token still does', async () => {
  await accountsJson(installation, ['keys', 'rotate']);
  const file = installation.env['JWT_KEYS_FILE']!;
  const { keys } = JSON.parse(readFileSync(file, 'utf8')) as { keys: { kid: string; nbf?: number }[] };
  const [added] = keys;
  // As if ten minutes had passed.
  delete added!.nbf;
  await replaceKeysFile(dirname(file), JSON.stringify({ keys }));
  const kidOf = ({ token }: { token: string }) => decodeToken(token).header['kid'];
  let ada = await aUser();
  await waitFor('the new key signs', hangTimeoutMs(), async () => {
    if (kidOf(ada) !== added!.kid) ada = await aUser();
    return kidOf(ada) === added!.kid;
  });
  expect(await check(ada.token)).toBe(200);
  expect(await check(known.token)).toBe(200);
  report({ faults: 1, requests: 2, wrong: 0 });
});

it('refuses no fresh token when its clock steps by 25 s, and is current with the next answer of the feed', async () => {
  const clock = new MovableClock();
  const other = await closeAfterTest(Sidecar.start(door.url, client, { NODE_OPTIONS: clock.option }));
  for (const step of [CLOCK_STEP_MS, -CLOCK_STEP_MS, -CLOCK_STEP_MS, CLOCK_STEP_MS]) {
    clock.moveOn(step);
    const { token } = await aUser();
    await waitFor('the fresh token passes', hangTimeoutMs(), async () => {
      const status = await other.status('/check', token);
      expect([200, 503]).toContain(status);
      return status === 200;
    });
  }
  report({ faults: 4, wrong: 0 });
});

it('answers each check that 64 connections have sent when SIGTERM comes', async () => {
  const other = await closeAfterTest(Sidecar.start(door.url, client));
  const users = await Promise.all(times(8, aUser));
  door.hold('/api/auth/introspect');
  const connections = await Promise.all(times(64, () => openConnection(`http://127.0.0.1:${other.port}`)));
  connections.forEach(({ socket }, place) => {
    const { token } = users[place % users.length]!;
    socket.write(keptAliveRequest('GET /check', [`Authorization: Bearer ${token}`]));
  });
  await waitFor('the checks wait', hangTimeoutMs(), async () => {
    const { text } = await other.get('/metrics');
    return /^accounts_guard_waiting_checks 64$/m.test(text);
  });
  const stopped = other.process.stop();
  await waitFor('it stops', hangTimeoutMs(), () => other.log().some(({ msg }) => msg === 'stopping'));
  door.release('/api/auth/introspect');
  await stopped;
  await Promise.all(connections.map(({ closed }) => closed));
  expect(connections.map((connection) => connection.statuses())).toEqual(times(64, () => [200]));
  report({ faults: 1, requests: 64, wrong: 0 });
});
