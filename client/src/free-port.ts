import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Another process could take the port before the caller does. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
