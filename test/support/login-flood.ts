import { availableParallelism } from 'node:os';
import { setTimeout as pass } from 'node:timers/promises';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { loadDuring } from './load.js';
import type { Service } from './service.js';
import { clientOf } from './service-client.js';

/** Hashes so slow that the queue does not empty between two requests, and has few places. */
export const SLOW_HASH = { ARGON2_MEMORY_KIB: '19456', ARGON2_TIME: '16' };

/** More than the service hashes and queues, which is what it can hash in two and a half seconds. */
const SENDERS = 55 * Math.min(4, availableParallelism());
/** after an answer without a hash: else this process and the service would have no time for the hashes */
const PAUSE_MS = 1000;

let floods = 0;

/**
 * Runs the work beside a flood of logins from one client, each with an email of its own that nobody has. The work
 * begins when the first of them was turned away. Nothing else is checked of their answers: that would cost more
 * than the flood itself.
 *
 * @returns the statuses of the flood's answers, 0 for none
 */
export async function besideLoginFlood(
  service: Pick<Service, 'url'>,
  headers: Record<string, string>,
  work: () => Promise<void>,
): Promise<number[]> {
  const name = `flood${(floods += 1)}`;
  const send = clientOf(service.url);
  const statuses: number[] = [];
  const login = async (sender: number, turn: number): Promise<number> => {
    const body = { email: `${name}-${sender}-${turn}@example.com`, password: 'not the right one' };
    const options = { headers, body, timeoutMs: hangTimeoutMs() };
    return send('POST', '/api/auth/login', options).then(
      ({ status }) => status,
      () => 0,
    );
  };

  await loadDuring(
    SENDERS,
    async (sender, turn) => {
      const status = await login(sender, turn);
      statuses.push(status);
      if (status !== 401) await pass(PAUSE_MS);
      return { outcome: 'refused', label: String(status) };
    },
    async () => {
      while (!statuses.includes(503)) await pass(20);
      await work();
    },
  );
  return statuses;
}
