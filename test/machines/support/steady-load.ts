import { TlsClient, type Answer } from './tls-client.js';

const CLIENTS = 8;

export interface Result {
  method: 'GET' | 'POST';
  answer: Answer | Error;
}

/** How many requests can be under way at once. */
export const IN_FLIGHT = CLIENTS;

/** Reads and writes without a pause, each client on its own connection, until `event` is over. */
export async function underLoad(
  address: string,
  token: string,
  event: () => Promise<unknown>,
): Promise<Result[]> {
  const results: Result[] = [];
  const over = new AbortController();
  const headers = { Authorization: `Bearer ${token}` };

  async function readAndWrite(): Promise<void> {
    const client = new TlsClient(address);
    while (!over.signal.aborted) {
      for (const [method, path] of [
        ['GET', '/api/me'],
        ['POST', '/api/auth/code'],
      ] as const) {
        const answer = await client.send(method, path, { headers }).catch((error: unknown) => error as Error);
        results.push({ method, answer });
      }
    }
    client.close();
  }

  const clients = Array.from({ length: CLIENTS }, readAndWrite);
  try {
    await event();
  } finally {
    over.abort();
    await Promise.all(clients);
  }
  return results;
}
