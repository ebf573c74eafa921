import { connect, type Socket } from 'node:net';
import type { Account } from './personas.js';
import { requestBytes } from './raw-connection.js';
import type { Service } from './service.js';

const SILENCE_MS = 60_000;
const SEND_EVERY_MS = 1000;

/** A client that stops reading after the first bytes of its answer. */
export class PausedReader {
  private text = '';

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8');
    // A connection that the service cut: what is told of it is what `readOn` finds.
    socket.on('error', () => undefined);
  }

  /** Resolves when the first bytes of the answer are there; from then on nothing is read. */
  static async get(service: Service, path: string, { token }: Account): Promise<PausedReader> {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const reader = new PausedReader(socket);
    socket.write(requestBytes(`GET ${path}`, [`Authorization: Bearer ${token}`]));
    await new Promise<void>((begun, failed) => {
      socket.once('error', failed);
      socket.once('data', (chunk: string) => {
        reader.text = chunk;
        socket.pause();
        begun();
      });
    });
    return reader;
  }

  /** Continues sending, as a client would that wants its connection kept. Empty lines before a request mean nothing. */
  keepSending(): this {
    const timer = setInterval(() => this.socket.write('\r\n'), SEND_EVERY_MS);
    this.socket.once('close', () => clearInterval(timer));
    return this;
  }

  /** Goes away in the middle of the answer. */
  leave(): void {
    this.socket.destroy();
  }

  /** Reads all that still comes, until the service ends the connection in whatever way. */
  readOn(): Promise<{ text: string; whole: boolean }> {
    return new Promise((done) => {
      this.socket.setTimeout(SILENCE_MS, () => this.socket.destroy());
      this.socket.on('data', (chunk: string) => (this.text += chunk));
      const end = (): void => done({ text: this.text, whole: this.text.endsWith('\r\n0\r\n\r\n') });
      if (this.socket.destroyed) return end();
      this.socket.on('close', end);
      return this.socket.resume();
    });
  }
}
