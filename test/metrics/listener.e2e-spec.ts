import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { KeepAliveClient } from '../support/keep-alive-client.js';
import { NO_LIMITS, type Service, startOwnService, startService } from '../support/service.js';
import { anAccount } from '../support/personas.js';
import { metricsUrl, scrape } from '../support/scrape.js';
import {
  exitCode,
  listeningPids,
  spawnService,
  spawnWithout,
  untilListening,
} from '../support/service-process.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const COUNT = 'accounts_http_request_duration_seconds_count';
const LIVE = { method: 'GET', route: '/health/live', status: '200' };
const REGISTERED = { method: 'POST', route: '/api/auth/register', status: '201' };
const LISTENING = '0A';
/** Sockets are counted in /proc, and the database takes no part. */
const LINUX_ONCE = process.platform === 'linux' && engine === 'sqlite';

function listeners(pid: number): number {
  const links = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)));
  const tables = ['tcp', 'tcp6'].map((name) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8'));
  const sockets = tables.join('').split('\n');
  return sockets.filter((line) => {
    const columns = line.trim().split(/\s+/);
    return columns[3] === LISTENING && links.has(`socket:[${columns[9]}]`);
  }).length;
}

describe('the listener of the metrics', () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

  it.runIf(LINUX_ONCE)('is not there by default, nor is its package', async () => {
    const service = spawnWithout(['prom-client'], installation, {});
    await untilListening(service);
    expect(listeners(service.child.pid!)).toBe(1);
    service.child.kill('SIGTERM');
    expect(await exitCode(service)).toBe(0);
  });

  it('is there with METRICS_PORT, answers while the database is damaged, and does not hold up a stop', async () => {
    const service = await startOwnService({ installation, env: { METRICS_PORT: '0' } });
    const url = await metricsUrl(service.logs);
    const ada = await anAccount(service, 'ada');
    const rename =
      engine === 'sqlite' ? 'ALTER TABLE sessions RENAME TO gone' : 'RENAME TABLE sessions TO gone';
    await installation.db.force(rename);
    expect((await ada.get('/api/me')).status).toBeGreaterThanOrEqual(500);

    // Its connection stays open.
    await waitFor('the failure is counted', hangTimeoutMs(), async () => {
      const { sum } = await scrape(url);
      return sum(COUNT, { route: '/api/me' }) === 1;
    });
    expect(LINUX_ONCE ? listeners(service.pid) : 2).toBe(2);
    await service.stop();
    expect(service.logs.join('\n')).not.toContain('requests are still running');
  });

  it.runIf(LINUX_ONCE)('needs its package', async () => {
    const without = spawnWithout(['prom-client'], installation, { METRICS_PORT: '0' });
    expect(await exitCode(without)).toBe(1);
  });

  it.runIf(engine === 'mariadb')('answers while the start waits for a database that refuses', async () => {
    const env = { ...installation.env, DATABASE_URL: 'mysql://root@127.0.0.1:1/none', METRICS_PORT: '0' };
    const service = spawnService(installation.directory, env);
    const { text } = await scrape(await metricsUrl(service.logs));
    expect(text).toContain('process_cpu_seconds_total');
    service.child.kill('SIGKILL');
    await service.exited;
  });
});

describe.runIf(engine === 'mariadb')('the metrics of several workers', () => {
  let service: Service;

  afterEach(() => service.stop());

  const pids = () => listeningPids(service.logs);
  const untilListen = (count: number) =>
    waitFor(`${count} workers have listened`, hangTimeoutMs(), () => pids().length === count);

  /** Over a connection of its own: the workers take them in turn. */
  async function probes(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const client = new KeepAliveClient(service.url, hangTimeoutMs());
      expect(await client.send('GET', '/health/live')).toMatchObject({ status: 200 });
      client.close();
    }
  }

  const untilCounted = (url: string, count: number, labels = LIVE) =>
    waitFor(`${count} are counted`, hangTimeoutMs(), async () => {
      const { value } = await scrape(url);
      return value(COUNT, labels) === count;
    });

  it('are summed, also when one hangs or has been replaced', async () => {
    service = await startService({ env: { ...NO_LIMITS, WEB_CONCURRENCY: '2', METRICS_PORT: '0' } });
    const url = await metricsUrl(service.logs);
    await untilListen(2);

    await probes(10);
    await untilCounted(url, 10);
    const connections = (await scrape(url)).sum('accounts_database_connections');
    expect(connections).toBeGreaterThanOrEqual(2);

    process.kill(pids()[0]!, 'SIGSTOP');
    expect((await scrape(url)).value(COUNT, LIVE), 'as before, and the scrape is answered').toBe(10);
    process.kill(pids()[0]!, 'SIGCONT');

    process.kill(pids()[0]!, 'SIGKILL');
    await untilListen(3);
    expect((await scrape(url)).value(COUNT, LIVE), 'what the dead one counted').toBe(10);
    await probes(6);
    await untilCounted(url, 16);

    process.kill(pids()[1]!, 'SIGKILL');
    await untilListen(4);
    expect((await scrape(url)).value(COUNT, LIVE)).toBe(16);
    await anAccount(service);
    await untilCounted(url, 1, REGISTERED);
  });

  it('do not hold what a worker that ended was doing', async () => {
    const slowHash = { ARGON2_MEMORY_KIB: '65536', ARGON2_TIME: '100' };
    const env = { ...NO_LIMITS, ...slowHash, WEB_CONCURRENCY: '2', METRICS_PORT: '0' };
    service = await startService({ env });
    const url = await metricsUrl(service.logs);
    await untilListen(2);
    const running = async () => (await scrape(url)).value('accounts_hashes_running');

    const interrupted = anAccount(service).catch(() => 'interrupted');
    await waitFor('a hash is running', hangTimeoutMs(), async () => (await running()) === 1);
    for (const pid of pids()) process.kill(pid, 'SIGKILL');
    expect(await interrupted).toBe('interrupted');
    await untilListen(4);

    expect(await running()).toBe(0);
  });
});
