import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below 32768, from where Linux takes the local ends of outgoing connections: a killed server finds its port free again. */
const [FIRST, BEYOND] = [20_000, 32_768];
const taken = new Set<number>();

/** A free port of 127.0.0.1, another one at each call. Only a program that asks for this very port could take it. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(FIRST, BEYOND);
    if (taken.has(port) || !(await isFree(port))) continue;
    taken.add(port);
    return port;
  }
  throw new Error(`no free port between ${FIRST} and ${BEYOND}`);
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
