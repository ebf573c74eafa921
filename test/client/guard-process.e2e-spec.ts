import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Address } from '../../client/src/guard/listen.ts';
import { killAtExit, temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { requireProgram } from '../../tooling/processes/find-program.js';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor, within } from '../../tooling/wait.js';
import { anAccount, anOrgOf } from '../support/personas.js';
import { startService } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';
import { Door } from './support/door.js';
import { RawConnection } from './support/raw-http.js';

const MAIN = resolve('client/src/guard/main.ts');
const MEMBERSHIPS = '/api/memberships';
const { version } = JSON.parse(readFileSync('client/package.json', 'utf8')) as { version: string };

const service = await startService();
const door = await Door.open(service.url);
const billing = await aServiceCaller(service, 'introspect', 'memberships', 'events');
const ada = await anAccount(service);
const org = await anOrgOf(ada);
const directory = temporaryDirectory('guard-process');
const secretFile = join(directory, 'secret');
const started: Sidecar[] = [];
let sockets = 0;

afterEach(async () => {
  door.isShut = false;
  door.release(MEMBERSHIPS);
  writeFileSync(secretFile, `${billing.secret}\n`);
  await Promise.all(started.splice(0).map((sidecar) => sidecar.kill()));
});
afterAll(() => door.close());
writeFileSync(secretFile, `${billing.secret}\n`);

interface Line {
  level: number;
  time: string;
  msg: string;
}

class Sidecar {
  stdout = '';
  stderr = '';
  readonly ended: Promise<number | null>;

  constructor(readonly child: ChildProcess) {
    killAtExit(child);
    child.stdout!.on('data', (text: Buffer) => void (this.stdout += text.toString()));
    child.stderr!.on('data', (text: Buffer) => void (this.stderr += text.toString()));
    this.ended = once(child, 'close').then(([code]) => code as number | null);
  }

  get lines(): Line[] {
    return this.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
  }

  logged(pattern: RegExp): Line[] {
    return this.lines.filter(({ msg }) => pattern.test(msg));
  }

  waitForLine(pattern: RegExp): Promise<unknown> {
    return waitFor(String(pattern), hangTimeoutMs(), () => this.logged(pattern).length > 0, 10);
  }

  exitCode(): Promise<number | null> {
    return within('the exit', hangTimeoutMs(), this.ended);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

function spawned(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Sidecar {
  const { PATH } = process.env;
  const child = spawn(process.execPath, [MAIN, ...argv], {
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const sidecar = new Sidecar(child);
  started.push(sidecar);
  return sidecar;
}

const flags = (...more: string[]): string[] => [
  '--issuer=accounts',
  `--url=${door.url}`,
  `--audience=accounts,${billing.name}`,
  `--service=${billing.name}`,
  `--secret-file=${secretFile}`,
  ...more,
];

/** Listens at a socket of its own. */
async function startAt(path: string, ...more: string[]): Promise<Sidecar> {
  const sidecar = spawned(flags(`--listen=unix:${path}`, ...more));
  await waitFor('its start', hangTimeoutMs(), () => sidecar.logged(/^listening$/).length > 0, 10).catch(
    (error) => {
      throw new Error(`${sidecar.stdout}${sidecar.stderr}`, { cause: error });
    },
  );
  return sidecar;
}

const newPath = (): string => join(directory, `${(sockets += 1)}.sock`);
const request = (target: string, token = ada.token): string =>
  `GET ${target} HTTP/1.1\r\nHost: guard\r\nAuthorization: Bearer ${token}\r\n\r\n`;

async function get(path: string, target: string): Promise<{ status: number; body: string }> {
  const connection = await RawConnection.open({ path });
  connection.send(request(target));
  const answer = await connection.next();
  connection.close();
  return answer ?? { status: 0, body: '' };
}

const untilReady = (path: string): Promise<unknown> =>
  waitFor('readiness', hangTimeoutMs(), async () => (await get(path, '/health/ready')).status === 200, 20);

const isRefused = (address: Address): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(address, () => done(false));
    socket.on('error', () => done(true)).on('connect', () => socket.destroy());
  });

describe('a start', () => {
  it('logs the effective settings without the secret, and admits users on a port and a socket', async () => {
    const [path, port] = [newPath(), await freePort()];
    const sidecar = await startAt(path, `--listen=localhost:${port}`, '--socket-mode=0600');
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    await untilReady(path);
    expect((await get(path, '/check')).status).toBe(200);
    const headers = { authorization: `Bearer ${ada.token}` };
    expect((await fetch(`http://127.0.0.1:${port}/check?org=${org.id}`, { headers })).status).toBe(200);
    expect(sidecar.lines).toEqual([
      {
        level: 30,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
        msg: 'listening',
        version,
        listen: `unix:${path},127.0.0.1:${port}`,
        'socket-mode': '0600',
        issuer: 'accounts',
        url: door.url,
        audience: `accounts,${billing.name}`,
        service: billing.name,
        'secret-file': secretFile,
        'max-staleness': 30,
        remember: 100_000,
      },
    ]);
  });

  it('listens at once, and answers 503 until the guard is current', async () => {
    door.shut();
    const path = newPath();
    const sidecar = await startAt(path);
    expect((await get(path, '/health/live')).status).toBe(200);
    expect((await get(path, '/check')).status).toBe(503);
    await waitFor('the reason', hangTimeoutMs(), async () => {
      const { status, body } = await get(path, '/health/ready');
      return status === 503 && body.includes('Accounts cannot be reached');
    });
    door.isShut = false;
    await untilReady(path);
    expect((await get(path, '/check')).status).toBe(200);
    expect(sidecar.logged(/^accounts-client: requests are answered 503/)).toHaveLength(1);
  });

  it('stays with a wrong secret, says why, and needs no restart for the right one', async () => {
    writeFileSync(secretFile, 'acs_wrong');
    const path = newPath();
    const sidecar = await startAt(path);
    await sidecar.waitForLine(/rejects the name or the secret/);
    expect((await get(path, '/check')).status).toBe(503);
    writeFileSync(secretFile, billing.secret);
    await untilReady(path);
    await sidecar.waitForLine(/^the guard is current again$/);
    expect(sidecar.stdout).not.toMatch(/acs_/);
  });

  it('replaces the socket file of a process that was killed', async () => {
    const path = newPath();
    await (await startAt(path)).kill();
    expect(existsSync(path)).toBe(true);
    await startAt(path);
    await untilReady(path);
  });

  it('never takes a socket that is in use, nor a file that is no socket', async () => {
    const [path, file] = [newPath(), join(directory, 'file')];
    writeFileSync(file, 'precious');
    await startAt(path);
    for (const [where, why] of [
      [path, 'is in use'],
      [file, 'exists, and is no socket'],
    ] as const) {
      const sidecar = spawned(flags(`--listen=unix:${where}`));
      expect(await sidecar.exitCode()).toBe(2);
      expect(sidecar.stderr).toBe(`accounts-guard: cannot listen: ${where} ${why}\n`);
    }
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect((await get(path, '/health/live')).status).toBe(200);
  });

  it('ends if a port is in use, and leaves no socket file', async () => {
    const [path, { port }] = [newPath(), new URL(door.url)];
    const sidecar = spawned(flags(`--listen=unix:${path}`, `--listen=127.0.0.1:${port}`));
    expect(await sidecar.exitCode()).toBe(2);
    expect(sidecar.stderr).toContain('cannot listen: ');
    expect(existsSync(path)).toBe(false);
  });

  it('ends with a line for each wrong setting', async () => {
    const sidecar = spawned(['--secret', 'acs_x', '--listen=0.0.0.0:80', '--max-staleness', '3', '--nope']);
    expect(await sidecar.exitCode()).toBe(2);
    const lines = sidecar.stderr.split('\n').map((line) => line.replace('accounts-guard: ', ''));
    expect(lines).toEqual([
      '--secret: there is no such flag, only --secret-file',
      '--nope: there is no such flag',
      '--issuer: is required',
      expect.stringContaining('--listen: 0.0.0.0:80 is not loopback'),
      '--audience: is required',
      '--service: is required',
      '--secret-file: is required, or the variable GUARD_SECRET',
      '--max-staleness: must be at least 4',
      '',
    ]);
    expect(sidecar.stderr).not.toContain('acs_x');
  });

  it('prints its help and its version', async () => {
    const [help, printed] = [spawned(['--help']), spawned(['--version'])];
    expect(await help.exitCode()).toBe(0);
    expect(await printed.exitCode()).toBe(0);
    expect(help.stdout).toContain('--max-staleness SECONDS');
    expect(printed.stdout).toBe(`${version}\n`);
  });
});

describe('a sidecar that runs', () => {
  it('has metrics that promtool accepts', async () => {
    const path = newPath();
    await startAt(path);
    await untilReady(path);
    for (const target of ['/check', '/check?Role=x', `/check?org=${org.id}&role=owner`])
      await get(path, target);
    const { body } = await get(path, '/metrics');
    const { status, stderr } = spawnSync(requireProgram('promtool'), ['check', 'metrics'], {
      input: body,
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    expect(body).toContain('accounts_guard_checks_total{status="200"} 2\n');
    expect(body).toContain('accounts_guard_checks_total{status="500"} 1\n');
    expect(body).toContain('accounts_guard_check_seconds_count 3\n');
    expect(body).toContain('accounts_guard_current 1\n');
    expect(body).toContain('accounts_guard_waiting_checks 0\n');
    expect(body).toContain(`accounts_guard_build_info{version="${version}"} 1\n`);
    expect(body).toMatch(
      /accounts_guard_accounts_requests_total\{operation="introspect",outcome="200"\} 1\n/,
    );
    expect(body).toMatch(/accounts_guard_events_total \d+\n/);
    expect(body).toMatch(/process_resident_memory_bytes \d+\n(?:#.*\n)+process_cpu_seconds_total [\d.]+\n$/);
  });

  it('logs each kind of invalid_check once, and no check that it answers', async () => {
    const path = newPath();
    const sidecar = await startAt(path);
    for (const target of [
      '/check?Role=x',
      '/check?Role=y',
      '/check?maxAge=x',
      '/check',
      `/check?org=${org.id}`,
    ])
      await get(path, target);
    expect(sidecar.logged(/invalid_check/).map(({ msg }) => msg)).toEqual([
      'a check means nothing (invalid_check): unknown parameter Role',
      'a check means nothing (invalid_check): maxAge must be a whole number of seconds',
    ]);
    expect(sidecar.lines).toHaveLength(3);
    expect(sidecar.stdout).not.toContain(ada.token);
  });

  it('continues without a reader of its log', async () => {
    const path = newPath();
    const sidecar = await startAt(path);
    sidecar.child.stdout!.destroy();
    sidecar.child.stderr!.destroy();
    for (const name of ['a', 'b', 'c']) expect((await get(path, `/check?${name}=x`)).status).toBe(500);
    await untilReady(path);
    expect((await get(path, '/check')).status).toBe(200);
  });
});

describe('a stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s answers what is under way, and nothing new',
    async (signal) => {
      const path = newPath();
      const sidecar = await startAt(path);
      await untilReady(path);
      const [waits, idle] = [await RawConnection.open({ path }), await RawConnection.open({ path })];
      idle.send(request('/check'));
      expect((await idle.next())?.status).toBe(200);
      door.hold(MEMBERSHIPS);
      waits.send(request(`/check?org=${org.id}`));
      await waitFor('the question', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) > 0, 10);

      sidecar.child.kill(signal);
      await sidecar.waitForLine(/^stopping$/);

      expect(await isRefused({ path })).toBe(true);
      expect(existsSync(path)).toBe(false);
      idle.send(request('/health/ready'));
      const notReady = await idle.next();
      expect([notReady?.status, notReady?.headers['connection']]).toEqual([503, 'close']);
      door.release(MEMBERSHIPS);
      const answer = await waits.next();
      expect([answer?.status, answer?.headers['connection']]).toEqual([200, 'close']);
      expect(await sidecar.exitCode()).toBe(0);
      expect(sidecar.lines.map(({ msg }) => msg)).toEqual(['listening', 'stopping', 'stopped']);
      expect(sidecar.stderr).toBe('');
    },
  );

  it('ends at once by a second signal', async () => {
    const path = newPath();
    const sidecar = await startAt(path);
    await untilReady(path);
    const waits = await RawConnection.open({ path });
    door.hold(MEMBERSHIPS);
    waits.send(request(`/check?org=${org.id}`));
    await waitFor('the question', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) > 0, 10);
    sidecar.child.kill('SIGTERM');
    await sidecar.waitForLine(/^stopping$/);
    sidecar.child.kill('SIGTERM');
    expect(await sidecar.exitCode()).toBe(1);
  });
});

describe('check', () => {
  it('prints the settings without the secret, and that the guard would admit users', async () => {
    const sidecar = spawned(['check', ...flags()]);
    expect(await sidecar.exitCode()).toBe(0);
    expect(sidecar.stdout).toContain(`secret-file: ${secretFile}\n`);
    expect(sidecar.stdout).toMatch(/\nThe guard would admit users\n$/);
    expect(sidecar.stdout).not.toContain(billing.secret);
  });

  it('prints each reason against it', async () => {
    const { name, secret } = await aServiceCaller(service);
    const env = { GUARD_SECRET: secret };
    const needed = [`--url=${door.url}`, `--audience=${name}`, `--service=${name}`];
    const argv = ['check', '--issuer=other', ...needed];
    const sidecar = spawned(argv, env);
    expect(await sidecar.exitCode()).toBe(1);
    expect(sidecar.stdout).toMatch(/^the issuer is "other", and JWT_ISSUER is "accounts"$/m);
    for (const scope of ['introspect', 'memberships', 'events'])
      expect(sidecar.stdout).toContain(`the scope "${scope}"`);
    expect(sidecar.stdout).not.toContain(secret);
    expect(sidecar.stdout).not.toContain('would admit');
  });

  it('says that it waits, if Accounts does not answer', async () => {
    const sidecar = spawned(['check', ...flags().with(1, `--url=http://127.0.0.1:${await freePort()}`)]);
    const isSaid = () => /^Accounts cannot be reached at .*: waiting up to 30 seconds$/m.test(sidecar.stderr);
    await waitFor('the wait', hangTimeoutMs(), isSaid, 10);
    expect(sidecar.child.exitCode).toBeNull();
  });

  it('warns of plain HTTP to another machine, and needs right settings', async () => {
    const sidecar = spawned(['check', ...flags().with(1, '--url=http://192.0.2.1')]);
    await waitFor(
      'the warning',
      hangTimeoutMs(),
      () => sidecar.stdout.includes('plain HTTP to another machine'),
      10,
    );
    const wrong = spawned(['check']);
    expect(await wrong.exitCode()).toBe(2);
  });
});
