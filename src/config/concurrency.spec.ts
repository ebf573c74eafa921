import { expect, it } from 'vitest';
import { parseEnv, workersFor } from './env.js';

/** Every limit that the configuration reads, also one that was added after this test. */
const LIMITS = namesRead().filter((name) => name.startsWith('RATE_LIMIT_'));
const ALL_OFF = Object.fromEntries(LIMITS.map((name) => [name, 'off']));

function namesRead(): string[] {
  const names = new Set<string>();
  parseEnv(
    new Proxy<NodeJS.ProcessEnv>(
      {},
      {
        get: (_, name) => {
          names.add(String(name));
          return undefined;
        },
      },
    ),
  );
  return [...names];
}

const workersWith = (variables: Record<string, string>): number =>
  workersFor(
    parseEnv({ DATABASE_URL: 'mysql://a:b@db/accounts', WEB_CONCURRENCY: '3', ...ALL_OFF, ...variables }),
  ).workers;

it('is the configured number where limits are off or shared in Redis', () => {
  expect(workersWith({})).toBe(3);
  for (const name of LIMITS) expect(workersWith({ [name]: '5/1h', REDIS_URL: 'redis://r:6379' })).toBe(3);
});

it('knows all limits', () => {
  expect(LIMITS.length).toBeGreaterThanOrEqual(7);
});

it.each(LIMITS)('is one where each process would count %s by itself', (name) => {
  expect(workersWith({ [name]: '5/1h' })).toBe(1);
});

it('is one on SQLite', () => {
  expect(workersWith({ DATABASE_URL: 'sqlite:./a.sqlite' })).toBe(1);
});
