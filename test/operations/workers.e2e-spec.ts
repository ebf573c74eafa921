import { describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { anAccount } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { hangTimeoutMs, waitFor } from '../support/wait.js';

const NO_LIMITS = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' };

describe('WEB_CONCURRENCY', () => {
  function workersOf(service: Service): number[] {
    return service.logs.flatMap((line) => {
      const pid = line.includes('"msg":"listening"') ? /"pid":(\d+)/.exec(line)?.[1] : undefined;
      return pid === undefined ? [] : [Number(pid)];
    });
  }

  it.runIf(engine === 'mariadb')(
    'serves one port with several processes and replaces one that dies',
    async () => {
      const service = await startService({ env: { ...NO_LIMITS, WEB_CONCURRENCY: '2' } });
      const listening = (count: number) =>
        waitFor(`${count} workers have listened`, hangTimeoutMs(), () => workersOf(service).length === count);
      await listening(2);
      const account = await anAccount(service);

      process.kill(workersOf(service)[0]!, 'SIGKILL');
      await listening(3);

      const answers = await Promise.all(Array.from({ length: 40 }, () => account.get('/api/me')));
      expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
      await service.stop();
    },
  );

  it.runIf(engine === 'mariadb')('is one process where each would limit by itself', async () => {
    const service = await startService({ env: { WEB_CONCURRENCY: '2' } });
    expect(service.logs.join('\n')).toContain('one process only: without REDIS_URL');
    expect(workersOf(service)).toHaveLength(1);
    await service.stop();
  });

  it.runIf(engine === 'sqlite')('is one process on SQLite, which the log says', async () => {
    const service = await startService({ env: { ...NO_LIMITS, WEB_CONCURRENCY: '2' } });
    expect(service.logs.join('\n')).toContain('one process only: SQLite serves one process');
    expect(workersOf(service)).toHaveLength(1);
    await service.stop();
  });
});
