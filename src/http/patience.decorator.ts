import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface Patience {
  /** aborts when the answer was sent or the client has left */
  gone: AbortSignal;
  /** Waits without a deadline; the answer gets a whole one after it. */
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
