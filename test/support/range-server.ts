import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { times } from './at-once.js';
import { aPassword } from './personas.js';

const sha1 = (text: string): string => createHash('sha1').update(text, 'utf8').digest('hex').toUpperCase();
export const prefixOf = (password: string): string => sha1(password).slice(0, 5);
export const suffixOf = (password: string): string => sha1(password).slice(5);

/** As the official downloader writes a range: sorted suffixes with counts. */
export function range(password: string, { count = 12, end = '\r\n' } = {}): string {
  const others = times(20, (n) => `${suffixOf(`other ${n}`)}:${n + 1}`);
  return [...others, `${suffixOf(password)}:${count}`].toSorted().join(end);
}

export type Respond = (response: ServerResponse, prefix: string) => void;

/** The range API: answers by default with a list in which no password is. */
export class RangeServer {
  readonly requests: { url: string; headers: object }[] = [];
  private readonly breached = new Set<string>();
  respond: Respond | undefined;
  private readonly server = createServer(({ url = '', headers }, response) => {
    this.requests.push({ url, headers });
    const prefix = url.slice(-5);
    if (this.respond) return this.respond(response, prefix);
    const listed = [...this.breached].find((one) => prefixOf(one) === prefix);
    response.end(range(listed ?? 'no password of the test'));
    return undefined;
  }).listen(0, '127.0.0.1');

  async start(): Promise<string> {
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  breach(password = aPassword()): string {
    this.breached.add(password);
    return password;
  }

  requestsOf(password: string): number {
    return this.requests.filter(({ url }) => url.endsWith(prefixOf(password))).length;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
