import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { metricsUrl, scrape } from '../support/scrape.js';
import { startService } from '../support/service.js';
import { exitCode, spawnService, untilListening } from '../support/service-process.js';
import { spawnWithout } from '../support/without-packages.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const LISTENING = '0A';
/** Sockets are counted in /proc, and the database takes no part. */
const LINUX_ONCE = process.platform === 'linux' && engine === 'sqlite';

/** How many TCP sockets of the process listen, as Linux tells. */
function listeners(pid: number): number {
  const inodes = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
    return inode === undefined ? [] : [inode];
  });
  const own = new Set(inodes);
  const sockets = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'),
  );
  return sockets.filter((line) => {
    const columns = line.trim().split(/\s+/);
    return columns[3] === LISTENING && own.has(columns[9] ?? '');
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

  it.runIf(LINUX_ONCE)('is there with METRICS_PORT, and needs its package', async () => {
    const service = spawnService(installation.directory, { ...installation.env, METRICS_PORT: '0' });
    await untilListening(service);
    expect(listeners(service.child.pid!)).toBe(2);
    service.child.kill('SIGTERM');
    expect(await exitCode(service)).toBe(0);

    const without = spawnWithout(['prom-client'], installation, { METRICS_PORT: '0' });
    expect(await exitCode(without)).toBe(1);
  });

  it('ends a start with one line where its port is taken', async () => {
    const taken: Server = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const service = spawnService(installation.directory, { ...installation.env, METRICS_PORT: String(port) });

    expect(await exitCode(service)).toBe(1);
    expect(service.stderr).toEqual([
      `METRICS_PORT, METRICS_HOST: cannot listen on 127.0.0.1:${port} (EADDRINUSE: another process listens there)`,
    ]);
    taken.close();
  });

  it('ends a start with one line where its host is not of this machine', async () => {
    const env = { ...installation.env, METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' };
    const service = spawnService(installation.directory, env);

    expect(await exitCode(service)).toBe(1);
    expect(service.stderr).toEqual([
      'METRICS_PORT, METRICS_HOST: cannot listen on 192.0.2.1:0 (EADDRNOTAVAIL)',
    ]);
  });

  it('does not hold up a stop, though a scraper keeps its connection', async () => {
    const service = await startService({ installation, env: { METRICS_PORT: '0' } });
    const response = await fetch(await metricsUrl(service.logs));
    await response.text();

    await service.stop();
    expect(service.logs.join('\n')).not.toContain('requests are still running');
  });

  it('answers before there is a database, and while it is gone', async () => {
    const damaged = {
      sqlite: 'ALTER TABLE sessions RENAME TO gone',
      mariadb: 'RENAME TABLE sessions TO gone',
    };
    const service = await startService({ installation, env: { METRICS_PORT: '0' } });
    const url = await metricsUrl(service.logs);
    const ada = await anAccount(service, 'ada');
    await installation.db.force(damaged[engine]);
    expect((await ada.get('/api/me')).status).toBeGreaterThanOrEqual(500);

    const scraped = await waitFor('the failure is counted', hangTimeoutMs(), async () => {
      const { sum } = await scrape(url);
      return sum('accounts_http_request_duration_seconds_count', { route: '/api/me' }) === 1;
    });
    expect(scraped).toBe(true);
    await service.stop();
  });

  it.runIf(engine === 'mariadb')('answers while the start waits for a database that refuses', async () => {
    const service = spawnService(installation.directory, {
      ...installation.env,
      DATABASE_URL: 'mysql://root@127.0.0.1:1/none',
      METRICS_PORT: '0',
    });
    const { text } = await scrape(await metricsUrl(service.logs));

    expect(text).toContain('process_cpu_seconds_total');
    service.child.kill('SIGKILL');
    await service.exited;
  });
});
