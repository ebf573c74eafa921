import { Worker } from 'node:worker_threads';
import { freePort } from '../../../client/src/free-port.ts';
import type { ProxyCommand, ProxyPorts, ProxyReply } from './proxy-thread.js';

const THREAD = new URL('proxy-thread.ts', import.meta.url);

/** A TCP proxy on 127.0.0.1 whose faults are switched while connections are open. Each waits until it has begun. */
export class FaultProxy {
  private readonly thread: Worker;
  private readonly carriedOut = new Map<number, (bytes: number) => void>();
  private commands = 0;

  private constructor(
    readonly port: number,
    targetPort: number,
  ) {
    this.thread = new Worker(THREAD, { workerData: { port, targetPort } satisfies ProxyPorts });
    this.thread.on('message', ({ id, bytes }: ProxyReply) => {
      this.carriedOut.get(id)!(bytes);
      this.carriedOut.delete(id);
    });
    this.thread.unref();
  }

  static async start(targetPort: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(await freePort(), targetPort);
    await proxy.pass();
    return proxy;
  }

  /** Bytes held back by `drop` are not lost: they arrive now, as TCP would have sent them again. */
  readonly pass = (): Promise<unknown> => this.tell('pass');
  readonly refuse = (): Promise<unknown> => this.tell('refuse');
  readonly drop = (): Promise<unknown> => this.tell('drop');
  /** Clients lose their connections, and meet the fault in new ones. */
  readonly ignore = (): Promise<unknown> => this.tell('ignore');
  readonly delay = (ms: number): Promise<unknown> => this.tell('delay', ms);
  readonly cut = (): Promise<unknown> => this.tell('cut');
  readonly bytes = (): Promise<number> => this.tell('count');

  async close(): Promise<void> {
    await this.thread.terminate();
  }

  private tell(action: ProxyCommand['action'], delayMs = 0): Promise<number> {
    this.commands += 1;
    const command: ProxyCommand = { id: this.commands, action, delayMs };
    return new Promise((resolve) => {
      this.carriedOut.set(command.id, resolve);
      this.thread.postMessage(command);
    });
  }
}
