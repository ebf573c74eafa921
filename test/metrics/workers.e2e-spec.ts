import { Agent, request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { NO_LIMITS } from '../support/no-limits.js';
import { engine } from '../support/engine.js';
import { anAccount } from '../support/personas.js';
import { metricsUrl, scrape } from '../support/scrape.js';
import { type Service, startService } from '../support/service.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const COUNT = 'accounts_http_request_duration_seconds_count';
const LIVE = { method: 'GET', route: '/health/live', status: '200' };
const REGISTERED = { method: 'POST', route: '/api/auth/register', status: '201' };

describe.runIf(engine === 'mariadb')('the metrics of several workers', () => {
  let service: Service;

  afterEach(() => service.stop());

  const pids = () =>
    service.logs.flatMap((line) => {
      const pid = line.includes('"msg":"listening"') ? /"pid":(\d+)/.exec(line)?.[1] : undefined;
      return pid === undefined ? [] : [Number(pid)];
    });
  const untilListening = (count: number) =>
    waitFor(`${count} workers have listened`, hangTimeoutMs(), () => pids().length === count);

  /** Over a connection of its own: the workers take them in turn. */
  const probe = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(`${service.url}/health/live`, { agent: new Agent() }, (response) => {
        response.resume().once('end', resolve);
      });
      sent.once('error', reject).end();
    });

  async function probes(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) await probe();
  }

  const untilCounted = (url: string, count: number, labels = LIVE) =>
    waitFor(`${count} are counted`, hangTimeoutMs(), async () => {
      const { value } = await scrape(url);
      return value(COUNT, labels) === count;
    });

  it('are summed, also when one has been replaced', async () => {
    service = await startService({ env: { ...NO_LIMITS, WEB_CONCURRENCY: '2', METRICS_PORT: '0' } });
    const url = await metricsUrl(service.logs);
    await untilListening(2);

    await probes(10);
    expect(await untilCounted(url, 10)).toBe(true);
    const connections = (await scrape(url)).sum('accounts_database_connections');
    expect(connections).toBeGreaterThanOrEqual(2);

    process.kill(pids()[0]!, 'SIGKILL');
    await untilListening(3);
    expect((await scrape(url)).value(COUNT, LIVE), 'what the dead one counted').toBe(10);
    await probes(6);
    expect(await untilCounted(url, 16)).toBe(true);

    process.kill(pids()[1]!, 'SIGKILL');
    await untilListening(4);
    expect((await scrape(url)).value(COUNT, LIVE)).toBe(16);
    await anAccount(service);
    expect(await untilCounted(url, 1, REGISTERED)).toBe(true);
  });

  it('are those of before for a worker that hangs, and the scrape is answered', async () => {
    service = await startService({ env: { ...NO_LIMITS, WEB_CONCURRENCY: '2', METRICS_PORT: '0' } });
    const url = await metricsUrl(service.logs);
    await untilListening(2);
    await probes(4);
    await untilCounted(url, 4);

    process.kill(pids()[0]!, 'SIGSTOP');
    const { value } = await scrape(url);
    process.kill(pids()[0]!, 'SIGCONT');

    expect(value(COUNT, LIVE)).toBe(4);
  });

  it('do not hold what a worker that ended was doing', async () => {
    const slowHash = { ARGON2_MEMORY_KIB: '65536', ARGON2_TIME: '100' };
    const env = { ...NO_LIMITS, ...slowHash, WEB_CONCURRENCY: '2', METRICS_PORT: '0' };
    service = await startService({ env });
    const url = await metricsUrl(service.logs);
    await untilListening(2);
    const running = async () => (await scrape(url)).value('accounts_hashes_running');

    const interrupted = anAccount(service).then(
      () => 'answered',
      () => 'interrupted',
    );
    await waitFor('a hash is running', hangTimeoutMs(), async () => (await running()) === 1);
    for (const pid of pids()) process.kill(pid, 'SIGKILL');
    expect(await interrupted).toBe('interrupted');
    await untilListening(4);

    expect(await running()).toBe(0);
  });
});
