import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { publishedAddress } from './compose.js';
import { PROJECT } from './images.js';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

interface Content {
  headers?: Record<string, string>;
  json?: unknown;
}

const PORT = 8443;
const ANSWER_TIMEOUT_MS = 60_000;

/** One client with one kept-alive connection, that trusts the certificate of the setup and nothing else. */
export class TlsClient {
  private readonly agent: Agent;

  constructor(localAddress: string) {
    this.agent = new Agent({
      keepAlive: true,
      maxSockets: 1,
      host: publishedAddress(),
      port: PORT,
      localAddress,
      servername: 'localhost',
      ca: readFileSync(join(PROJECT, 'secrets/tls.pem')),
    });
  }

  /** Rejects where the connection ends without an answer. */
  send(method: string, path: string, { headers = {}, json }: Content = {}): Promise<Answer> {
    const body = json === undefined ? undefined : JSON.stringify(json);
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          agent: this.agent,
          host: publishedAddress(),
          port: PORT,
          method,
          path,
          signal,
          headers: { ...type, ...headers },
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.once('error', reject);
          incoming.once('end', () =>
            resolve({
              status: incoming.statusCode!,
              headers: incoming.headers,
              body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
            }),
          );
        },
      );
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
