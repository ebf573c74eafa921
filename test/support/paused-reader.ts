import { connect, type Socket } from 'node:net';
import type { Account } from './personas.js';
import { requestBytes } from './raw-connection.js';
import type { Service } from './service.js';

const SILENCE_MS = 60_000;

/** A client that stops reading after the first bytes of its answer. */
export class PausedReader {
  private text = '';

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8');
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

  /** Reads all that still comes, until the service ends the connection in whatever way. */
  readOn(): Promise<{ text: string; whole: boolean }> {
    return new Promise((done, failed) => {
      this.socket.setTimeout(SILENCE_MS, () => this.socket.destroy(new Error('nothing comes any more')));
      this.socket.on('data', (chunk: string) => (this.text += chunk));
      this.socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ECONNRESET') failed(error);
      });
      this.socket.on('close', () => done({ text: this.text, whole: this.text.endsWith('\r\n0\r\n\r\n') }));
      this.socket.resume();
    });
  }
}
