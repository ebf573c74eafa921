import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../tooling/wait.js';
import type { KeepAliveClient } from '../support/keep-alive-client.js';
import {
  addAddress,
  answerOf,
  compose,
  containerOf,
  createFirstOperator,
  followQuickStart,
  IN_FLIGHT,
  publishedAddress,
  tlsClient,
  underLoad,
} from './support/compose.js';
import { docker, inspect, PROJECT } from './support/images.js';

const ADA = '198.51.100.7';
const BOB = '198.51.100.8';
const CROWD = '198.51.100.9';
const OPERATOR = '10.98.51.7';
const INSTANCES = ['accounts-1', 'accounts-2', 'accounts-3'];
/** The quick start makes an operator of ada@example.com. */
const ACCOUNT = { email: 'bob@example.com', password: 'correct horse battery' };
const LOGINS = 10;
const RECOVERY_TIMEOUT_MS = 180_000;
const CONNECTIONS_OF_ONE_CLIENT = 100;
const ALL_ANSWERED = new Set(['GET answered 200', 'POST answered 201']);
/** HAProxy closes the connection without an answer where it was not the first request on it. */
const LOST = new Set(['POST answered 502', 'POST closed, kept open']);

describe('compose.yaml', () => {
  let ada: KeepAliveClient;
  let bob: KeepAliveClient;
  let token: string;
  let steps: Awaited<ReturnType<typeof followQuickStart>>;

  beforeAll(async () => {
    await Promise.all([ADA, BOB, CROWD, OPERATOR].map(addAddress));
    steps = await followQuickStart();
    ada = tlsClient(ADA);
    bob = tlsClient(BOB);
    await untilAllAreReady();
    token = (await answerOf(ada.send('POST', '/api/auth/register', { body: ACCOUNT }))).body[
      'token'
    ] as string;
  });
  afterAll(() => compose('down', '--volumes', '--timeout', '5'));

  it('prints what the quick start shows', () => {
    const unseen = steps.flatMap(({ shown, printed }) =>
      shown.split('\n').filter((line) => line !== '…' && !printed.includes(line)),
    );
    expect(steps.map(({ shown }) => shown.split('\n').length)).toEqual([1, 1, 3]);
    expect(unseen).toEqual([]);
    expect(steps[2]!.printed).not.toContain('RED');
  });

  it('creates the first operator as the quick start shows', async () => {
    const { shown, printed } = await createFirstOperator();
    const parts = shown.split(/\s*(?:019a)?…\s*/).filter((part) => part !== '');
    expect(parts.length).toBeGreaterThan(4);
    expect(parts.filter((part) => !printed.includes(part))).toEqual([]);
    expect(printed).toMatch(/[▀▄█]{9}/);
    expect(await compose('exec', 'accounts-2', 'accounts', 'operators', 'list')).toContain('ada@example.com');
  });

  it('has metrics for those inside only, and a mail server outside only on request', async () => {
    const fetching =
      "fetch('http://accounts-1:9464/metrics').then((r) => r.text()).then((t) => console.log(t))";
    const inside = await compose('exec', 'accounts-2', 'node', '--eval', fetching);
    expect(inside).toContain('accounts_ready');
    const networks = await inspect(await containerOf('accounts-2'), 'json .NetworkSettings.Networks');
    const names = Object.keys(JSON.parse(networks) as object);
    expect(names).toHaveLength(1);
    expect((await docker('network', 'inspect', '--format', '{{.Internal}}', ...names)).trim()).toBe('true');
  });

  it('is backed up by the command of the nightly job', async () => {
    const page = await readFile(join(PROJECT, 'docs/deploy-compose.md'), 'utf8');
    const [, words] = /docker compose (exec -T database sh -c) '/.exec(page)!;
    const [, script] = /database sh -c '([^']+)'/.exec(page)!;
    const dump = await compose(...words!.split(' '), script!);
    expect(dump).toMatch(/CREATE TABLE `users`/);
    expect(dump).toContain('-- Dump completed');
  });

  it('gives each secret only to the user that reads it', () => {
    for (const [file, uid] of [
      ['keys/jwks.json', 1000],
      ['keys/database-url', 1000],
      ['tls.pem', 99],
    ] as const) {
      const { uid: owner, mode } = statSync(join(PROJECT, 'secrets', file));
      expect({ file, owner, mode: mode & 0o777 }).toEqual({ file, owner: uid, mode: 0o600 });
    }
  });

  it('lets only the container for key rotation write the signing keys', async () => {
    const id = await containerOf('accounts-1');
    await expect(docker('exec', id, 'touch', '/run/keys/x')).rejects.toThrow('Read-only file system');
    expect(
      await compose('run', '--rm', 'key-rotation', 'accounts', 'keys', 'rotate', '--reason', 'a test'),
    ).toContain('added');
    expect(await docker('exec', id, 'cat', '/run/keys/jwks.json')).toMatch(/("kid".*){2}/s);
  });

  it('is reachable over TLS on one port only', async () => {
    const { status, headers } = await answerOf(ada.send('GET', '/health/live'));
    expect(status).toBe(200);
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    await expect(inClear()).rejects.toThrow(/socket hang up|ECONNRESET/);
    const ports = await docker('ps', '--format', '{{.Ports}}');
    expect(ports.match(/[^\s,]+->\S+/g)).toEqual(['0.0.0.0:8443->8443/tcp']);
  });

  it('runs the instances unprivileged, with a read-only root file system', async () => {
    const id = await containerOf('accounts-1');
    const status = await docker('exec', id, 'cat', '/proc/1/status');
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    await expect(docker('exec', id, 'touch', '/app/x')).rejects.toThrow('Read-only file system');
  });

  it('distinguishes clients by their address, whatever they forward', async () => {
    await untilAllAreReady();
    const body = { ...ACCOUNT, password: 'not her password' };
    let admitted = 0;
    for (let status = 0; status !== 429; admitted += 1) {
      const headers = { 'X-Forwarded-For': `203.0.113.${admitted}` };
      ({ status } = await answerOf(ada.send('POST', '/api/auth/login', { body, headers })));
      expect([401, 429]).toContain(status);
    }
    // Each instance counts by itself while Redis does not answer in time, as on a machine that is busy.
    expect(admitted - 1).toBeGreaterThanOrEqual(LOGINS);
    expect(admitted - 1).toBeLessThanOrEqual(LOGINS * INSTANCES.length);
    expect(Number(await docker('exec', await containerOf('redis'), 'redis-cli', 'dbsize'))).toBeGreaterThan(
      0,
    );
    expect(await bob.send('POST', '/api/auth/login', { body: ACCOUNT })).toMatchObject({ status: 200 });
    const logs = (
      await Promise.all(INSTANCES.map(async (name) => docker('logs', await containerOf(name))))
    ).join();
    expect(logs).toContain(`"ip":"${ADA}"`);
    expect(logs).toContain(`"ip":"${BOB}"`);
    expect(logs).not.toContain('203.0.113.');
  });

  it('keeps the routes of operators inside, in whatever way their path is written', async () => {
    const inside = tlsClient(OPERATOR);
    for (const path of ['/api/operators/status', '/%61pi/%6Fperators/status?x=1']) {
      expect(await answerOf(ada.send('GET', path)), path).toMatchObject({
        status: 404,
        body: { code: 'not_found', requestId: expect.stringMatching(/^[\da-f-]{36}$/) },
      });
      expect(await answerOf(inside.send('GET', path)), path).toMatchObject({
        status: 401,
        body: { code: 'unauthorized' },
      });
    }
  });

  it('accepts others while one client holds a hundred connections', async () => {
    const sockets: Socket[] = [];
    let closed = 0;
    for (let n = 0; n < CONNECTIONS_OF_ONE_CLIENT + 10; n += 1) {
      const socket = connect({ host: publishedAddress(), port: 8443, localAddress: CROWD });
      socket.once('close', () => (closed += 1)).on('error', () => undefined);
      sockets.push(socket);
    }
    await waitFor('refusals', RECOVERY_TIMEOUT_MS, async () => closed >= 10);
    expect(await bob.send('GET', '/health/live')).toMatchObject({ status: 200 });
    for (const socket of sockets) socket.destroy();
  });

  it('hides the death of an instance, except from its pending writes', async () => {
    const id = await containerOf('accounts-1');
    const results = await underLoad(ADA, token, async () => {
      process.kill(Number(await inspect(id, '.State.Pid')), 'SIGKILL');
      await untilAllAreReady();
    });
    expect(outcomes(results)).toEqual(ALL_ANSWERED);
    expect(lostWrites(results).length).toBeLessThanOrEqual(IN_FLIGHT);
    expect(Number(await inspect(id, '.RestartCount'))).toBeGreaterThan(0);
  });

  it('hides the restart of an instance, except from its pending writes', async () => {
    const results = await underLoad(ADA, token, async () => {
      await compose('restart', 'accounts-2');
      await untilAllAreReady();
    });
    expect(outcomes(results)).toEqual(ALL_ANSWERED);
    expect(lostWrites(results).length).toBeLessThanOrEqual(IN_FLIGHT);
  });

  it('answers 503 without its database, and recovers with it', async () => {
    const id = await containerOf('database');
    await docker('kill', id);
    for (let n = 0; n < 30; n += 1) {
      const answer = await answerOf(ada.send('GET', '/api/me', { token }));
      expect(answer).toMatchObject({ status: 503, body: { status: 503, code: 'unavailable' } });
      expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    await docker('start', id);
    await untilAllAreReady();
    const { body } = await answerOf(ada.send('GET', '/api/me', { token }));
    expect(body['user']).toMatchObject({ email: ACCOUNT.email });
  });

  it('stops gracefully', async () => {
    await compose('stop');
    for (const name of INSTANCES) expect(await inspect(await containerOf(name), '.State.ExitCode')).toBe('0');
  });

  /** Inside each instance, since the balancer may not have noticed yet. */
  async function untilAllAreReady(): Promise<void> {
    const check =
      "fetch('http://127.0.0.1:3000/health/ready').then((r) => r.json()).then((b) => process.exit(b.status === 'ok' ? 0 : 1))";
    for (const name of INSTANCES)
      await waitFor(
        name,
        RECOVERY_TIMEOUT_MS,
        async () => (await docker('exec', await containerOf(name), 'node', '--eval', check)) === '',
      );
    const inside = tlsClient(OPERATOR);
    await waitFor(
      'the balancer',
      RECOVERY_TIMEOUT_MS,
      async () => (await answerOf(inside.send('GET', '/health/ready'))).status === 200,
    );
  }

  function inClear(): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      get({ host: publishedAddress(), port: 8443, path: '/health/live' }, (answer) =>
        resolve(answer.statusCode),
      ).once('error', reject);
    });
  }
});

/** All outcomes except pending writes of the killed instance, which are unknown. */
function outcomes(results: string[]): Set<string> {
  return new Set(results.filter((result) => !LOST.has(result)));
}

function lostWrites(results: string[]): string[] {
  return results.filter((result) => LOST.has(result));
}
