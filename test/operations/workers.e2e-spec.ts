import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_LIMITS, type Service, startService } from '../support/service.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { exitCode, listeningPids, spawnService } from '../support/service-process.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

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
  let installation: Installation;
  /** a database user of their own, which the test locks */
  let user: string;
  let env: Record<string, string>;

  beforeEach(async () => {
    installation = await anInstallation();
    const url = new URL(installation.db.url);
    const name = `w_${randomBytes(6).toString('hex')}`;
    user = `${name}@'127.0.0.1'`;
    await installation.db.query(`CREATE USER ${user}`);
    await installation.db.query(`GRANT ALL ON ${url.pathname.slice(1)}.* TO ${user}`);
    url.username = name;
    // One connection for statements each, opened at the start: existing connections are not locked out.
    env = { ...NO_LIMITS, WEB_CONCURRENCY: '2', DATABASE_URL: url.href, DATABASE_POOL_SIZE: '2' };
  });
  afterEach(async () => {
    await installation.db.query(`DROP USER ${user}`);
    await installation.remove();
  });

  const lockAccount = () => installation.db.query(`ALTER USER ${user} ACCOUNT LOCK`);
  const unlockAccount = () => installation.db.query(`ALTER USER ${user} ACCOUNT UNLOCK`);

  async function startWorkers(): Promise<Service> {
    const service = await startService({ installation, env });
    await untilListening(service.logs, 2);
    return service;
  }

  it('serve one port, and are replaced when they die', async () => {
    const service = await startWorkers();
    const account = await anAccount(service);

    process.kill(listeningPids(service.logs)[0]!, 'SIGKILL');
    await untilListening(service.logs, 3);

    const answers = await Promise.all(Array.from({ length: 40 }, () => account.get('/api/me')));
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
    await service.stop();
  });

  it('keep serving while one cannot be replaced, until it can, and exit with 0 on SIGTERM meanwhile', async () => {
    const service = await startWorkers();
    const account = await anAccount(service);
    const pids = () => listeningPids(service.logs);
    await lockAccount();
    process.kill(pids()[0]!, 'SIGKILL');
    await untilFailed(service.logs, 2);

    for (let count = 0; count < 10; count += 1) expect((await account.get('/api/me')).status).toBe(200);
    expect(pids()).toHaveLength(2);

    await unlockAccount();
    await untilListening(service.logs, 3);
    const failed = pausesSeconds(service.logs);
    expect(failed).toEqual([1, 2, 4].slice(0, failed.length));

    await lockAccount();
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

async function untilListening(logs: string[], count: number): Promise<void> {
  await vi.waitFor(() => expect(listeningPids(logs)).toHaveLength(count), hangTimeoutMs());
}

async function untilFailed(logs: string[], count: number): Promise<void> {
  await vi.waitFor(() => expect(pausesSeconds(logs)).toHaveLength(count), hangTimeoutMs());
}
