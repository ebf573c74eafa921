import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../tooling/servers/free-port.js';

export interface TcpProxy {
  port: number;
  close(): Promise<void>;
}

/**
 * Stands before a server on 127.0.0.1, on a port of its own. Neither end of a connection outlives the other.
 *
 * @param join is given both ends of each new connection, and passes on what it likes
 */
export async function startProxy(
  targetPort: number,
  join: (client: Socket, server: Socket) => void,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    const server = connect(targetPort, '127.0.0.1');
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    join(client, server);
  });
  const port = await freePort();
  await new Promise<void>((listening) => listener.listen(port, '127.0.0.1', listening));
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => listener.close(closed));
  };
  return { port, close };
}
