import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createParamDecorator, type ExecutionContext, Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnavailableError } from '../problems/problem.js';
import { sendProblem } from './problem.filter.js';

/** `wait` stops the deadline during the work; the deadline starts over afterward. */
export interface LongPoll {
  gone: AbortSignal;
  wait: <T>(work: () => Promise<T>) => Promise<T>;
}

export const LongPoll = createParamDecorator((_: unknown, context: ExecutionContext): LongPoll => {
  const [{ deadline }, { raw }] = context.getArgs<[FastifyRequest, FastifyReply]>();
  const gone = new AbortController();
  if (raw.destroyed) gone.abort();
  raw.once('close', () => gone.abort());
  return {
    gone: gone.signal,
    wait: async (work) => {
      deadline?.stop();
      try {
        return await work();
      } finally {
        if (!gone.signal.aborted) deadline?.start();
      }
    },
  };
});

/** Whether no answer can reach the client. */
export type HasLeft = () => Promise<boolean>;

export const HasLeft = createParamDecorator((_: unknown, context: ExecutionContext): HasLeft => {
  const [{ socket }, { raw }] = context.getArgs<[FastifyRequest, FastifyReply]>();
  return async () => {
    // The first turn can end before Node reads its sockets, and a process that was stopped has a close to read.
    await yieldToEventLoop();
    await yieldToEventLoop();
    return socket.destroyed || socket.readableEnded || raw.writableEnded;
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
      if (reply.sent || reply.raw.headersSent) return;
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
