import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { SignedInOperator } from '../access/actor.js';
import { actorOf } from './current-actor.decorator.js';

/** The operator who acts, without the reason, which the body of each change has. */
export const CurrentOperator = createParamDecorator(
  (_: unknown, context: ExecutionContext): SignedInOperator => {
    const { id, sessionId, requestId, address } = actorOf(
      context.switchToHttp().getRequest<FastifyRequest>(),
    );
    return { kind: 'operator', id, sessionId, requestId, address };
  },
);
