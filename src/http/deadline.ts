import { createParamDecorator, type ExecutionContext, Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnavailableError } from '../problems/problem.js';
import { sendProblem } from './problem.filter.js';
import { disconnectWhenStalled } from './connections.js';

export interface Patience {
  gone: AbortSignal;
  /** The deadline starts over after the wait. */
  wait: (work: () => Promise<void>) => Promise<void>;
}

export const Patience = createParamDecorator((_: unknown, context: ExecutionContext): Patience => {
  const http = context.switchToHttp();
  const { deadline } = http.getRequest<FastifyRequest>();
  const { raw } = http.getResponse<FastifyReply>();
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
    deadline?: Deadline;
  }
}

const DEADLINE_MS = 4500;

class Deadline {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly miss: () => void) {}

  start(): void {
    this.timer = setTimeout(this.miss, DEADLINE_MS);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

/** The work continues until its own timeouts, so the 503 says that the outcome is unknown. */
export function enforceDeadline(fastify: FastifyInstance): void {
  const logger = new Logger('Http');
  fastify.decorateRequest('deadline', undefined);

  fastify.addHook('preHandler', (request, reply, done) => {
    request.deadline = new Deadline(() => {
      if (reply.sent || reply.raw.headersSent) return disconnectWhenStalled(reply.raw, logger);
      const late = new UnavailableError(
        'The answer took too long; whether the request took effect is unknown.',
      );
      sendProblem(late, request, reply, logger);
    });
    request.deadline.start();
    done();
  });
  fastify.addHook('onResponse', (request, _reply, done) => {
    request.deadline?.stop();
    done();
  });
}
