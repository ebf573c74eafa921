import { connect, type Socket } from 'node:net';
import { type HttpResponse, ResponseReader } from './http-response.ts';

interface Waiter {
  resolve: (response: HttpResponse) => void;
  reject: (error: Error) => void;
}

/** One keep-alive connection with one request at a time, at a fraction of an HTTP client's cost. */
export class Connection {
  private readonly socket: Socket;
  private readonly reader = new ResponseReader();
  private waiter: Waiter | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.receive(bytes));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('The server closed a connection')));
  }

  /** @param client its address is another for each of eight, as one may not take the whole line for hashes */
  static open(url: string, client: number): Promise<Connection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), ...addressOf(client) });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  send(request: string): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      this.waiter = { resolve, reject };
      this.socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(bytes: Buffer): void {
    const response = this.reader.read(bytes);
    if (!response) return;
    const waiter = this.waiter;
    this.waiter = undefined;
    waiter?.resolve(response);
  }

  private fail(error: Error): void {
    this.waiter?.reject(error);
    this.waiter = undefined;
  }
}

/** Elsewhere than on Linux, loopback has one address. */
function addressOf(client: number): { localAddress?: string } {
  return process.platform === 'linux' ? { localAddress: `127.0.0.${1 + (client % 8)}` } : {};
}
