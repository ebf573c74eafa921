import { connect, type Socket } from 'node:net';
import type { Address } from '../../../client/src/guard/listen.ts';
import { hangTimeoutMs, within } from '../../../tooling/wait.js';

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A connection on which any bytes can be sent. */
export class RawConnection {
  private received = '';
  private isOver = false;
  private wake: () => void = () => undefined;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      this.received += text;
      this.wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isOver = true;
      this.wake();
    });
  }

  static async open(address: Address): Promise<RawConnection> {
    const socket = connect(address);
    const opened = new RawConnection(socket);
    await new Promise<void>((done, fail) => socket.once('connect', done).once('error', fail));
    return opened;
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** The next answer; undefined if the connection ends without one. */
  async next(isOfHead = false): Promise<RawAnswer | undefined> {
    return within('an answer', hangTimeoutMs(), this.read(isOfHead));
  }

  async closed(): Promise<void> {
    while (!this.isOver) await this.change();
  }

  close(): void {
    this.socket.destroy();
  }

  private async read(isOfHead: boolean): Promise<RawAnswer | undefined> {
    for (;;) {
      const answer = this.take(isOfHead);
      if (answer || this.isOver) return answer;
      await this.change();
    }
  }

  private change(): Promise<void> {
    return new Promise((done) => {
      this.wake = done;
    });
  }

  private take(isOfHead: boolean): RawAnswer | undefined {
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.received.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(first.split(' ')[1]);
    const length = isOfHead || status < 200 ? 0 : Number(headers['content-length'] ?? 0);
    const rest = this.received.slice(end + 4);
    if (rest.length < length) return undefined;
    this.received = rest.slice(length);
    return { status, headers, body: rest.slice(0, length) };
  }
}
