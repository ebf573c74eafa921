import { connect, type Socket } from 'node:net';
import { type HttpResponse, ResponseReader } from './http-response.ts';

interface Waiter {
  resolve: (response: HttpResponse) => void;
  reject: (error: Error) => void;
}

/** One keep-alive connection with one request at a time, at a fraction of an HTTP client's cost. Reopens when it is spent. */
export class Connection {
  private reader = new ResponseReader();
  private waiter: Waiter | undefined;
  private isSpent = false;

  private socket: Socket;
  private readonly url: string;
  private readonly client: number;

  private constructor(socket: Socket, url: string, client: number) {
    this.socket = socket;
    this.url = url;
    this.client = client;
    this.listen();
  }

  /** @param client its address is another for each of eight, as one may not take the whole line for hashes */
  static async open(url: string, client: number): Promise<Connection> {
    return new Connection(await connected(url, client), url, client);
  }

  async send(request: string): Promise<HttpResponse> {
    if (this.isSpent) await this.reopen();
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
    this.isSpent = response.isLast;
    waiter?.resolve(response);
  }

  private async reopen(): Promise<void> {
    this.socket.destroy();
    this.socket = await connected(this.url, this.client);
    this.reader = new ResponseReader();
    this.isSpent = false;
    this.listen();
  }

  private listen(): void {
    const { socket } = this;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.receive(bytes));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => {
      if (socket === this.socket) this.fail(new Error('The server closed a connection'));
    });
  }

  private fail(error: Error): void {
    this.waiter?.reject(error);
    this.waiter = undefined;
  }
}

function connected(url: string, client: number): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ...addressOf(client) });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

/** Elsewhere than on Linux, loopback has one address. */
function addressOf(client: number): { localAddress?: string } {
  return process.platform === 'linux' ? { localAddress: `127.0.0.${1 + (client % 8)}` } : {};
}
