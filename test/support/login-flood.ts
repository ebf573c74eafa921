import { setTimeout as pass } from 'node:timers/promises';
import type { Service } from './service.js';

/** A hash that takes so long that a flood of a few hundred logins a second fills the line of those that wait. */
export const SLOW_HASH = { ARGON2_MEMORY_KIB: '19456', ARGON2_TIME: '4' };

interface Flood {
  perSecond: number;
  headers?: Record<string, string>;
}

const PERIOD_MS = 20;
/** More than the line has places for; a machine that is busy itself is asked for no more. */
const MAX_UNANSWERED = 250;
let floods = 0;

/**
 * Runs the work beside a flood of logins from one client, each with an e-mail of its own that nobody has. The work
 * begins when the first of them was turned away. Nothing else is checked of their answers: that would cost more
 * than the flood itself.
 *
 * @returns the statuses of the flood's answers, 0 for none
 */
export async function besideLoginFlood(
  service: Pick<Service, 'url'>,
  { perSecond, headers = {} }: Flood,
  work: () => Promise<void>,
): Promise<number[]> {
  const name = `flood${(floods += 1)}`;
  const statuses: number[] = [];
  const sent: Promise<unknown>[] = [];
  const send = (): void => {
    const email = `${name}-${sent.length}@example.com`;
    const answer = fetch(`${service.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ email, password: 'not the right one' }),
    });
    sent.push(
      answer
        .then((response) => response.arrayBuffer().then(() => response.status))
        .catch(() => 0)
        .then((status) => statuses.push(status)),
    );
  };

  const begin = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - begin) / 1000) * perSecond;
    while (sent.length < Math.min(due, statuses.length + MAX_UNANSWERED)) send();
  }, PERIOD_MS);
  try {
    while (!statuses.includes(503)) await pass(PERIOD_MS);
    await work();
  } finally {
    clearInterval(timer);
    await Promise.all(sent);
  }
  return statuses;
}
