import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { invalidToken } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, aCode, anAccount, anEmail, anOrg, aPassword, logIn } from '../support/personas.js';
import { NO_LIMITS, startOwnService, startService } from '../support/service.js';
import {
  BUILT_SERVICE,
  exitCode,
  listeningPids,
  type ServiceProcess,
  spawnInto,
  spawnService,
  untilListening,
} from '../support/service-process.js';
import { aSigningKey, decodeToken } from '../support/signing-keys.js';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { keptAliveRequest, type OpenConnection, openConnection } from '../support/connections.js';
import { aServiceClient } from '../support/services.js';

let installation: Installation;
beforeEach(async () => {
  installation = await anInstallation();
});
// Installations of failed tests are removed at the end of the file.
afterEach(() => installation.remove());

describe('a start', () => {
  it('after a kill finds all that was acknowledged, and each rotation of the keys does what it should', async () => {
    const [oldKey] = installation.keys;
    const newKey = aSigningKey();
    const before = await startOwnService({ installation, env: { RATE_LIMIT_REGISTER: 'off' } });
    const { org, owner, admin } = await anOrg(before);
    expect(decodeToken(owner.token).header['kid']).toBe(oldKey!.kid);
    const detail = await owner.get(`/api/orgs/${org.id}`);
    const code = await aCode(owner);
    const password = 'harbor lantern quiet';
    const registered = times(20, () => ({ email: anEmail('kept'), password }));
    for (const credentials of registered)
      expect((await before.anyone.post('/api/auth/register', credentials)).status).toBe(201);
    await before.kill();

    await installation.writeKeys([newKey, oldKey!]);
    const env = { MIGRATIONS: 'check', RATE_LIMIT_LOGIN: 'off' };
    const during = await startOwnService({ installation, env });
    expect((await during.anyone.get('/health/ready')).status).toBe(200);
    for (const one of [...registered, owner]) expect((await logIn(during, one)).status).toBe(200);
    expect((await owner.at(during).get(`/api/orgs/${org.id}`)).body).toEqual(detail.body);
    expect((await admin.at(during).get('/api/me')).body).toMatchObject({ orgs: [org] });
    expect((await during.anyone.post('/api/auth/code/exchange', { code })).status).toBe(200);
    const published = await during.anyone.get<{ keys: Record<string, string>[] }>('/.well-known/jwks.json');
    // Without their private halves.
    const halves = [newKey, oldKey!].map(({ jwk: { kty, crv, x, y, kid } }) => ({ kty, crv, x, y, kid }));
    expect(published.body.keys).toEqual(
      halves.map((key) => Object.assign(key, { alg: 'ES256', use: 'sig' })),
    );
    expect(published.headers.get('content-type')).toMatch(/^application\/(jwk-set\+)?json/);
    const eve = await anAccount(during, 'eve');
    expect(decodeToken(eve.token).header['kid']).toBe(newKey.kid);
    const [head, body, signature] = eve.token.split('.') as [string, string, string];
    const key = createPublicKey({ key: published.body.keys[0]!, format: 'jwk' });
    const bytes = Buffer.from(signature, 'base64url');
    const signed = Buffer.from(`${head}.${body}`);
    expect(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true);
    await during.stop();

    await installation.writeKeys([newKey]);
    const after = await startOwnService({ installation });
    expect(await owner.at(after).get('/api/me')).toMatchObject(invalidToken);
    expect((await eve.at(after).get('/api/me')).status).toBe(200);
    await after.stop();
  });

  it('with MIGRATIONS=check requires an up-to-date schema', async () => {
    const tooEarly = spawnService(installation.directory, { ...installation.env, MIGRATIONS: 'check' });
    expect(await exitCode(tooEarly)).toBe(1);
    expect(tooEarly.stderr.join('\n')).toMatch(/MIGRATIONS/);
  });

  // The keys are made and looked at before a database is opened.
  it.runIf(engine === 'sqlite')(
    'creates keys that only their owner can read, keeps them, and warns when others can',
    async () => {
      const file = join(installation.directory, 'fresh', 'jwks.json');
      const env = { JWT_KEYS_FILE: file };
      const warnings = (logs: string[]) => logs.filter((line) => line.includes('read the private keys'));
      const first = await startOwnService({ installation, env });
      const ada = await anAccount(first, 'ada');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(warnings(first.logs)).toEqual([]);
      const kept = await readFile(file, 'utf8');

      // Nor does it share the file of the database with a process that runs.
      const second = spawnService(installation.directory, { ...installation.env, ...env });
      expect(await exitCode(second)).toBe(1);
      expect(second.stderr.join('\n')).toMatch(/DATABASE_URL/);
      expect(second.stderr.join('\n')).not.toMatch(/\n\s+at |node_modules/);
      expect((await ada.get('/api/me')).status).toBe(200);
      await first.stop();

      await chmod(file, '640');
      const third = await startOwnService({ installation, env });
      expect(await readFile(file, 'utf8')).toBe(kept);
      expect((await ada.at(third).get('/api/me')).status).toBe(200);
      expect(warnings(third.logs)).toHaveLength(1);
      await third.stop();
    },
  );
});

const CUT_SHORT = 'requests are still running';
/** of a service at one process */
const WAITING = 20;
/** On a server, the workers have to pass the signal on. */
const ENV = engine === 'sqlite' ? {} : { ...NO_LIMITS, WEB_CONCURRENCY: '2' };

describe('a signal to stop', () => {
  let service: ServiceProcess;
  let url: string;

  const connect = async (request: string, headers: string[] = []): Promise<OpenConnection> => {
    const connection = await openConnection(url);
    connection.socket.write(keptAliveRequest(request, headers));
    return connection;
  };

  async function start(): Promise<void> {
    service = spawnService(installation.directory, { ...installation.env, ...ENV });
    url = await untilListening(service);
  }

  /** A registration whose head has arrived and whose body is sent later. */
  async function aRequestInFlight(...headers: string[]) {
    const json = JSON.stringify({ email: anEmail(), password: aPassword() });
    const length = `Content-Length: ${json.length}`;
    const head = ['Content-Type: application/json', length, 'Expect: 100-continue', ...headers];
    const connection = await connect('POST /api/auth/register', head);
    // This answer says that the request has begun.
    await vi.waitFor(() => expect(connection.text()).toContain('100 Continue'), hangTimeoutMs());
    return { connection, sendBody: (following = '') => connection.socket.write(json + following) };
  }

  it.runIf(engine === 'sqlite')(
    'stops an idle service although clients keep connections open or send nothing',
    async () => {
      await start();
      const connections = await Promise.all(times(3, () => connect('GET /health/live')));
      for (const { text } of connections)
        await vi.waitFor(() => expect(text()).toContain('HTTP/1.1 200'), hangTimeoutMs());
      const { closed } = await openConnection(url);

      service.child.kill('SIGINT');

      expect(await closed).toBe('');
      expect(await exitCode(service)).toBe(0);
      expect(service.logs.join('\n')).not.toContain(CUT_SHORT);
      for (const { socket } of connections) socket.destroy();
    },
  );

  it('has requests in flight answered, however often it comes, and no new ones accepted', async () => {
    await start();
    const closing = await aRequestInFlight('Connection: close');
    const keptAlive = await aRequestInFlight();
    const probing = await aRequestInFlight();

    service.child.kill('SIGTERM');
    await vi.waitFor(() => expect(openConnection(url)).rejects.toThrow('ECONNREFUSED'), hangTimeoutMs());
    service.child.kill('SIGTERM');
    service.child.kill('SIGINT');
    closing.sendBody();
    keptAlive.sendBody();
    probing.sendBody(keptAliveRequest('GET /health/ready'));

    expect(await exitCode(service)).toBe(0);
    for (const { connection } of [closing, keptAlive, probing]) {
      expect(connection.text()).toContain('HTTP/1.1 201');
      expect(connection.text()).toContain('"token":');
    }
    expect(probing.connection.statuses(), 'readiness is refused').toEqual([201, 503]);
    expect(probing.connection.text()).toContain('"code":"unavailable"');
    expect(service.logs.join('\n')).not.toContain(CUT_SHORT);
  });

  it.runIf(engine === 'sqlite')('ends what waits for an event of the feed, with an answer', async () => {
    await start();
    const { authorization } = await aServiceClient(installation.db, ['events']);
    const request = 'GET /api/events?after=start&wait=15';
    const waiting = await Promise.all(
      times(WAITING + 1, () => connect(request, [`Authorization: ${authorization}`])),
    );
    const statuses = () => waiting.flatMap((connection) => connection.statuses());
    // The one that is rejected says that all others wait.
    await vi.waitFor(() => expect(statuses()).toEqual([429]), hangTimeoutMs());

    service.child.kill('SIGTERM');

    expect(await exitCode(service)).toBe(0);
    expect(statuses().toSorted((one, other) => one - other)).toEqual([...times(WAITING, () => 200), 429]);
    expect(service.logs.join('\n')).not.toContain(CUT_SHORT);
  });

  it.runIf(engine === 'sqlite')('stops a service that runs where the disk of its log is full', async () => {
    url = `http://127.0.0.1:${await freePort()}`;
    const full = openSync('/dev/full', 'w');
    const env = { ...installation.env, PORT: new URL(url).port };
    const unheard = spawnInto(full, BUILT_SERVICE, installation.directory, env);
    closeSync(full);
    const ended = once(unheard, 'exit');
    try {
      await waitFor('the service listens', hangTimeoutMs(), () => fetch(`${url}/health/live`));
      for (let count = 0; count < 100; count += 1) expect((await fetch(`${url}/api/me`)).status).toBe(401);
    } finally {
      unheard.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });
});

it('WEB_CONCURRENCY starts one process on SQLite, or where each would limit by itself', async () => {
  const limits = engine === 'sqlite' ? NO_LIMITS : {};
  const service = await startService({ env: { ...limits, WEB_CONCURRENCY: '2' } });
  const reason = { sqlite: 'SQLite supports a single process', mariadb: 'without REDIS_URL' }[engine];
  expect(service.logs.join('\n')).toContain(`one process only: ${reason}`);
  expect(listeningPids(service.logs)).toHaveLength(1);
  await service.stop();
});

// Each starts up to seven processes and waits out the pauses between them.
describe.runIf(engine === 'mariadb')('several workers', () => {
  /** a database user of their own, which the test locks */
  let user: string;
  let env: Record<string, string>;

  beforeEach(async () => {
    const url = new URL(installation.db.url);
    const name = `w_${randomBytes(6).toString('hex')}`;
    user = `${name}@'127.0.0.1'`;
    await installation.db.query(`CREATE USER ${user}`);
    await installation.db.query(`GRANT ALL ON ${url.pathname.slice(1)}.* TO ${user}`);
    url.username = name;
    env = { ...NO_LIMITS, WEB_CONCURRENCY: '2', DATABASE_URL: url.href, DATABASE_POOL_SIZE: '2' };
  });
  afterEach(async () => void (await installation.db.query(`DROP USER ${user}`)));

  /** Connections that are open are not locked out, so each of two workers opens all of its own before. */
  const lockAccount = async (account: Account) => {
    await waitFor('every connection is open', hangTimeoutMs(), async () => {
      await Promise.all(times(20, () => account.get('/api/me')));
      const sql = 'SELECT COUNT(*) AS open FROM information_schema.processlist WHERE user = ?';
      const [row] = await installation.db.query(sql, [user.split('@')[0]!]);
      return Number(row!['open']) >= 4;
    });
    await installation.db.query(`ALTER USER ${user} ACCOUNT LOCK`);
  };
  const unlockAccount = () => installation.db.query(`ALTER USER ${user} ACCOUNT UNLOCK`);

  it('keep serving while one cannot be replaced, until it can, and exit with 0 on SIGTERM meanwhile', async () => {
    const service = await startService({ installation, env });
    await untilListeners(service.logs, 2);
    const account = await anAccount(service);
    const pids = () => listeningPids(service.logs);
    // Their rows have the id of the primary, so that they count once if keys differ.
    const rows = await installation.db.query('SELECT pid FROM instances');
    const [primary] = rows.map(({ pid }) => Number(pid));
    expect(rows).toEqual([{ pid: primary }, { pid: primary }]);
    expect(pids()).not.toContain(primary);
    await lockAccount(account);
    process.kill(pids()[0]!, 'SIGKILL');
    await untilFailed(service.logs, 2);

    for (let count = 0; count < 10; count += 1) expect((await account.get('/api/me')).status).toBe(200);
    expect(pids()).toHaveLength(2);

    await unlockAccount();
    await untilListeners(service.logs, 3);
    const answers = await Promise.all(times(40, () => account.get('/api/me')));
    expect(answers.map(({ status }) => status)).toEqual(times(40, () => 200));
    const failed = pausesSeconds(service.logs);
    expect(failed).toEqual([1, 2, 4].slice(0, failed.length));

    await lockAccount(account);
    process.kill(pids()[2]!, 'SIGKILL');
    await untilFailed(service.logs, failed.length + 4);
    expect(pausesSeconds(service.logs).slice(-4), 'after a start that went well').toEqual([1, 2, 4, 8]);
    expect((await account.get('/api/me')).status).toBe(200);

    await service.stop();
    expect(service.logs.join('\n')).not.toContain('requests are still running');
  });

  it('give up when none of them ever listened', async () => {
    const elsewhere = { PORT: '1', HOST: '192.0.2.1' };
    const service = spawnService(installation.directory, { ...installation.env, ...env, ...elsewhere });
    expect(await exitCode(service)).toBe(1);
    expect(service.stderr.join('\n')).toContain('PORT, HOST: cannot listen on 192.0.2.1:1 (');
  });
});

function pausesSeconds(logs: string[]): number[] {
  return logs.flatMap((line) => {
    const pause = /"msg":"a worker ended and will be replaced".*"pauseMs":(\d+)/.exec(line)?.[1];
    return pause === undefined ? [] : [Number(pause) / 1000];
  });
}

async function untilListeners(logs: string[], count: number): Promise<void> {
  await vi.waitFor(() => expect(listeningPids(logs)).toHaveLength(count), hangTimeoutMs());
}

async function untilFailed(logs: string[], count: number): Promise<void> {
  await vi.waitFor(() => expect(pausesSeconds(logs)).toHaveLength(count), hangTimeoutMs());
}
