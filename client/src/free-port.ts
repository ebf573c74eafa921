import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below 32768, where Linux begins to give out ports by itself: nobody gets this one by chance. */
const [FIRST, BEYOND] = [20_000, 32_768];

/** The port is free now; a program that asks for this very port could take it before the caller does. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(FIRST, BEYOND);
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  await new Promise((closed) => server.close(closed));
  return true;
}
