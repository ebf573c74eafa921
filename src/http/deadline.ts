import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createParamDecorator, type ExecutionContext, Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnavailableError } from '../problems/problem.js';
import { sendProblem } from './problem.filter.js';

/** `wait` stops the deadline during the work; the deadline starts over afterward. */
export interface Patience {
  gone: AbortSignal;
  wait: (work: () => Promise<void>) => Promise<void>;
}

export const Patience = createParamDecorator((_: unknown, context: ExecutionContext): Patience => {
  const [{ deadline }, { raw }] = context.getArgs<[FastifyRequest, FastifyReply]>();
  const gone = new AbortController();
  if (raw.destroyed) gone.abort();
  raw.once('close', () => gone.abort());
  return {
    gone: gone.signal,
    wait: async (work) => {
      deadline?.stop();
      try {
        await work();
      } finally {
        if (!gone.signal.aborted) deadline?.start();
      }
    },
  };
});

declare module 'fastify' {
  interface FastifyRequest {
    deadline?: { start: () => void; stop: () => void };
  }
}

const DEADLINE_MS = 4500;
const LATE = 'The answer took too long; whether the request took effect is unknown.';

/** The work continues until its own timeouts, so the 503 says that the outcome is unknown. */
export function enforceDeadline(fastify: FastifyInstance): void {
  const logger = new Logger('Http');
  fastify.decorateRequest('deadline', undefined);

  fastify.addHook('preHandler', (request, reply, done) => {
    if (request.deadline) return done();
    let timer: NodeJS.Timeout | undefined;
    const miss = (): void => {
      if (reply.sent || reply.raw.headersSent) return disconnectWhenStalled(reply.raw, logger);
      sendProblem(new UnavailableError(LATE), request, reply, logger);
    };
    request.deadline = {
      start: () => void (timer = setTimeout(miss, DEADLINE_MS)),
      stop: () => clearTimeout(timer),
    };
    request.deadline.start();
    done();
  });
  fastify.addHook('onResponse', (request, _reply, done) => {
    request.deadline?.stop();
    done();
  });
}

const STALL_TIMEOUT_MS = 15_000;
const CHECK_MS = 1000;

/** Disconnects a client that stops reading. The timeout of the socket ignores clients that still send. */
function disconnectWhenStalled(response: ServerResponse, logger: Logger): void {
  const { socket } = response.req;
  let taken = takenBy(socket);
  let since = performance.now();

  const timer = setInterval(() => {
    if (response.writableFinished || socket.destroyed) return clearInterval(timer);
    const before = taken;
    taken = takenBy(socket);
    if (taken !== before || socket.writableLength === 0) since = performance.now();
    if (performance.now() - since < STALL_TIMEOUT_MS) return;
    clearInterval(timer);
    logger.warn('connection closed: the client read nothing of the response for 15 seconds');
    socket.destroy();
  }, CHECK_MS);
  timer.unref();
}

/** Returns the bytes that the operating system accepted, which only Node's handle shows during a write. */
function takenBy(socket: Socket): number {
  const handle = Reflect.get(socket, '_handle') as { bytesWritten: number; writeQueueSize: number } | null;
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}
