import { describeSent } from '../../support/keep-alive-client.js';
import { loadDuring } from '../../support/load.js';
import { tlsClient } from './tls-client.js';

/** How many requests can be under way at once. */
export const IN_FLIGHT = 8;

const REQUESTS = [
  ['GET', '/api/me'],
  ['POST', '/api/auth/code'],
] as const;

/**
 * Reads and writes without a pause, each client on its own connection, until `event` is over.
 *
 * @returns what came of each request
 */
export async function underLoad(
  address: string,
  token: string,
  event: () => Promise<unknown>,
): Promise<string[]> {
  const clients = Array.from({ length: IN_FLIGHT }, () => tlsClient(address));
  const { entries } = await loadDuring(
    IN_FLIGHT,
    async (worker, turn) => {
      const [method, path] = REQUESTS[turn % REQUESTS.length]!;
      const sent = await clients[worker]!.send(method, path, { token });
      return {
        outcome: sent.kind === 'answered' ? 'ok' : 'unknown',
        label: `${method} ${describeSent(sent)}`,
      };
    },
    async () => void (await event()),
  );
  for (const client of clients) client.close();
  return entries.map(({ label }) => label);
}
