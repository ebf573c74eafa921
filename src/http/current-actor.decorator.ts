import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../access/actor.js';
import type { CurrentUser } from '../access/current-user.decorator.js';
import { clientAddress } from './client-address.js';

export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = context.switchToHttp().getRequest<FastifyRequest & { user: CurrentUser }>();
  const { id, sessionId } = request.user;
  return { kind: 'user', id, sessionId, requestId: request.id, address: clientAddress(request) };
});
