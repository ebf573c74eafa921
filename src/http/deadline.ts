import { Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { UnavailableError } from '../problems/problem.js';
import { sendProblem } from './problem.filter.js';
import { disconnectWhenStalled } from './stalled-answers.js';

declare module 'fastify' {
  interface FastifyRequest {
    deadline?: Deadline;
  }
}

/** time from the arrival of the whole request to its answer */
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

/** The work itself continues until its own timeouts, so the 503 says that the outcome is unknown. */
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
