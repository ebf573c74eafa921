import { afterEach, describe, expect, it, vi } from 'vitest';
import { engine } from '../support/engine.js';
import { anAccount } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const PATIENCE_MS = 20_000;
const NO_LIMITS = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_LOOKUP: 'off' };

describe('WEB_CONCURRENCY', () => {
  let service: Service;

  afterEach(() => service.stop());

  function workers(): number[] {
    return service.logs.flatMap((line) => {
      const pid = line.includes('"msg":"listening"') ? /"pid":(\d+)/.exec(line)?.[1] : undefined;
      return pid === undefined ? [] : [Number(pid)];
    });
  }

  it.runIf(engine === 'mariadb')(
    'serves one port with several processes and replaces one that dies',
    async () => {
      service = await startService({ env: { ...NO_LIMITS, WEB_CONCURRENCY: '2' } });
      await vi.waitFor(() => expect(workers()).toHaveLength(2), PATIENCE_MS);
      const account = await anAccount(service);

      process.kill(workers()[0]!, 'SIGKILL');
      await vi.waitFor(() => expect(workers()).toHaveLength(3), PATIENCE_MS);

      const answers = await Promise.all(Array.from({ length: 40 }, () => account.get('/api/me')));
      expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
    },
  );

  it.runIf(engine === 'mariadb')('is one process where each would limit by itself', async () => {
    service = await startService({ env: { WEB_CONCURRENCY: '2' } });
    expect(service.logs.join('\n')).toContain('one process only: without REDIS_URL');
    expect(workers()).toHaveLength(1);
  });

  it.runIf(engine === 'sqlite')('is one process on SQLite, which the log says', async () => {
    service = await startService({ env: { ...NO_LIMITS, WEB_CONCURRENCY: '2' } });
    expect(service.logs.join('\n')).toContain('one process only: SQLite serves one process');
    expect(workers()).toHaveLength(1);
  });
});
