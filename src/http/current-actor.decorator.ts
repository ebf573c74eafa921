import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Origin, UserActor } from '../access/actor.js';
import type { CurrentUser } from '../access/current-user.decorator.js';
import { clientAddress } from './client-address.js';

export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): UserActor => {
  const request = context.switchToHttp().getRequest<FastifyRequest & { user: CurrentUser }>();
  const { id, sessionId } = request.user;
  return { kind: 'user', id, sessionId, ...originOf(request) };
});

/** For routes whose actor is known only when they are done. */
export const RequestOrigin = createParamDecorator((_: unknown, context: ExecutionContext) =>
  originOf(context.switchToHttp().getRequest()),
);

function originOf(request: FastifyRequest): Origin {
  return { requestId: request.id, address: clientAddress(request) };
}
