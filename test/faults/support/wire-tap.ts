import { startProxy, type TcpProxy } from './tcp-proxy.js';

/** Keeps what passes, in both directions, as somebody on the network would. */
export interface WireTap extends TcpProxy {
  /** Whether the text passed as it is. */
  hears(text: string): boolean;
  /** Resets a connection as soon as its client says something. */
  resets: boolean;
}

export async function startWireTap(targetPort: number): Promise<WireTap> {
  const heard: Buffer[] = [];
  const proxy = await startProxy(targetPort, (client, server) => {
    client.on('data', (chunk) => {
      if (tap.resets) client.resetAndDestroy();
      heard.push(Buffer.from(chunk));
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      heard.push(Buffer.from(chunk));
      client.write(chunk);
    });
  });
  const tap = { ...proxy, resets: false, hears: (text: string) => Buffer.concat(heard).includes(text) };
  return tap;
}
