import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { limitKey } from '../access/principal.js';
import { FairQueue } from '../database/transactions/fair-queue.js';
import { UnavailableError } from '../problems/problem.js';

const MAX_RUNNING = 32;
const MAX_RUNNING_OF_PRINCIPAL = 8;
const MAX_WAITING = 1000;
const MAX_WAIT_MS = 3000;

interface GatedReader {
  key: string;
  hasLeft(): boolean;
}

/** The client disconnected while its read waited, so nobody receives the answer. */
export class ClientLeftError extends UnavailableError {
  constructor() {
    super('The client has left.');
  }
}

/** Bounds the reads whose answers grow with the data. Principals take turns, and none has more than a quarter of the slots. */
export class ReadGate {
  private readonly queue = new FairQueue<GatedReader>({
    maxWaiting: () => MAX_WAITING,
    timeoutMs: MAX_WAIT_MS,
    busy: tooManyReads,
    tooLate: tooManyReads,
  });

  get counts(): { running: number; waiting: number } {
    return this.queue.counts;
  }

  /** @throws UnavailableError before `work` begins: the queue is full, the wait was too long, or the client has left */
  run<T>(reader: GatedReader, work: () => Promise<T>): Promise<T> {
    return this.hold(reader, work, () => this.queue.wait(reader.key, reader));
  }

  /** A page of a stream has begun to answer, so it waits before other reads of its principal, for as long as it takes. */
  runPage<T>(reader: GatedReader, work: () => Promise<T>): Promise<T> {
    return this.hold(reader, work, () => this.queue.wait(reader.key, reader, 'granted', Infinity));
  }

  private async hold<T>(reader: GatedReader, work: () => Promise<T>, wait: () => Promise<void>): Promise<T> {
    if (this.canBegin(reader.key)) this.queue.addRunning(reader.key);
    else {
      await wait();
      // On SQLite, all waiting reads would otherwise run before other requests.
      await yieldToEventLoop();
    }
    try {
      return await work();
    } finally {
      this.queue.removeRunning(reader.key);
      this.beginNext();
    }
  }

  private canBegin(key: string): boolean {
    return this.counts.running < MAX_RUNNING && this.queue.runningOf(key) < MAX_RUNNING_OF_PRINCIPAL;
  }

  private beginNext(): void {
    for (;;) {
      const next = this.queue.takeNext((_, key) => this.canBegin(key));
      if (!next) return;
      if (next.request.hasLeft()) {
        next.refuse(new ClientLeftError());
      } else {
        this.queue.addRunning(next.key);
        next.begin();
      }
    }
  }
}

function tooManyReads(): UnavailableError {
  return new UnavailableError('Too many lists are being read right now. Try again shortly.');
}

const gate = new ReadGate();

/** Never the IP address: behind a proxy that TRUST_PROXY does not name, all clients have one. */
function readerOf(context: ExecutionContext): GatedReader {
  const { principal, socket } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!principal) throw new Error('a route without a principal reads through the gate');
  return { key: limitKey(principal), hasLeft: () => socket.destroyed };
}

const CurrentReader = createParamDecorator((_: unknown, context: ExecutionContext) => readerOf(context));

/** Reads and builds one page of a stream while it holds a slot. A client that reads slowly holds none. */
export type ReadPage = <T>(work: () => Promise<T>) => Promise<T>;

export const ReadPage = createParamDecorator((_: unknown, context: ExecutionContext): ReadPage => {
  const reader = readerOf(context);
  return (work) => gate.runPage(reader, work);
});

export const IsGated = Reflector.createDecorator<true>();

/** Declares a read whose answer grows with the data: its handler runs in a slot. */
export function GatedRead() {
  return (controller: object, name: string, descriptor: PropertyDescriptor): void => {
    const handler = descriptor.value as (...parameters: unknown[]) => Promise<unknown>;
    const last = handler.length;
    CurrentReader()(controller, name, last);
    // Nest's documentation finds a method by its name and its metadata.
    const gated = {
      [name](this: unknown, ...parameters: unknown[]): Promise<unknown> {
        return gate.run(parameters[last] as GatedReader, () =>
          handler.apply(this, parameters.slice(0, last)),
        );
      },
    };
    for (const key of Reflect.getMetadataKeys(handler) as string[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), gated[name]!);
    descriptor.value = gated[name];
    IsGated(true)(controller, name, descriptor);
  };
}
