import { once } from 'node:events';
import { type ClientRequest, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands before the service, counts what passes, can be shut, and can be slow or another server. */
export class Door {
  isShut = false;
  /** Answers HTML with this status, as a captive portal or a proxy does. */
  pageStatus: number | undefined;
  /** How much later each answer passes. */
  lateMs = 0;
  readonly asked: string[] = [];
  private readonly underWay = new Map<ClientRequest, string>();
  private readonly held = new Map<string, (() => void)[]>();
  private readonly server: Server;

  private constructor(private target: string) {
    this.server = createServer((incoming, outgoing) => {
      const path = incoming.url!.split('?')[0]!;
      this.asked.push(path);
      if (this.isShut) {
        outgoing.destroy();
        return;
      }
      if (this.pageStatus !== undefined) {
        outgoing.writeHead(this.pageStatus, { 'Content-Type': 'text/html' }).end('<h1>Please log in</h1>');
        return;
      }
      const { method, headers, url } = incoming;
      const onward = request(this.target + url, { method, headers }, (answer) => {
        const pass = (): void => {
          outgoing.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(outgoing);
        };
        const held = this.held.get(path);
        if (held) held.push(pass);
        else if (this.lateMs > 0) setTimeout(pass, this.lateMs);
        else pass();
      });
      this.underWay.set(onward, path);
      onward.on('error', () => this.underWay.has(onward) && outgoing.destroy());
      outgoing.on('close', () => {
        this.underWay.delete(onward);
        onward.destroy();
      });
      incoming.pipe(onward);
    });
  }

  static async open(target: string): Promise<Door> {
    const opened = new Door(target);
    await once(opened.server.listen(0, '127.0.0.1'), 'listening');
    return opened;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  leadTo(target: string): void {
    this.target = target;
  }

  shut(): void {
    this.isShut = true;
    this.server.closeAllConnections();
  }

  /** Accounts answers such requests, but the answers wait here until they are released. */
  hold(path: string): void {
    this.held.set(path, []);
  }

  holds(path: string): number {
    return this.held.get(path)?.length ?? 0;
  }

  release(path: string): void {
    const held = this.held.get(path) ?? [];
    this.held.delete(path);
    for (const pass of held) pass();
  }

  isWaiting(path: string): boolean {
    return [...this.underWay.values()].includes(path);
  }

  /** A caller who has asked gets no answer, and does not learn why. */
  loseConnections(): void {
    for (const onward of this.underWay.keys()) {
      this.underWay.delete(onward);
      onward.destroy();
    }
  }

  count(path: string): number {
    return this.asked.filter((asked) => asked === path).length;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }
}
