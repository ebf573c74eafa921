import { connect, isIP, type Socket } from 'node:net';
import type { SslOptions } from 'mysql2';
import type { DatabaseTls } from '../../config/database-url.js';

/** mysql2 caches TLS settings by the identity of `ssl`. */
export interface TlsOptions {
  ssl?: SslOptions;
  stream?: () => Socket;
}

export function tlsOptions(tls: DatabaseTls | undefined, host: string, port: number): TlsOptions {
  if (tls === undefined) return {};
  const verifyIdentity = tls.mode === 'verify';
  return {
    ssl: {
      ...(tls.ca !== undefined && { ca: tls.ca }),
      rejectUnauthorized: verifyIdentity || tls.ca !== undefined,
      verifyIdentity,
    },
    ...(verifyIdentity && isIP(host) !== 0 && { stream: () => connectToAddress(host, port) }),
  };
}

// Node checks a certificate for the name that its lookup has left on the socket. An address has no lookup, so mysql2
// 3.24 would accept a certificate for `localhost` and refuse one for the address.
function connectToAddress(host: string, port: number): Socket {
  const socket = connect({ host, port, keepAlive: true, noDelay: true });
  return Object.assign(socket, { _host: host });
}
