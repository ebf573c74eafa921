import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Origin, SignInOrigin, UserActor } from '../access/actor.js';
import { userOf } from '../access/principal.js';
import { clientAddress } from './client-address.js';
import { userAgentOf } from './user-agent.js';

export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): UserActor =>
  actorOf(context.switchToHttp().getRequest()),
);

export function actorOf(request: FastifyRequest): UserActor {
  return { ...userOf(request), ...originOf(request) };
}

/** Serves routes whose actor is known only when they are done. */
export const RequestOrigin = createParamDecorator((_: unknown, context: ExecutionContext) =>
  originOf(context.switchToHttp().getRequest()),
);

export const RequestSignInOrigin = createParamDecorator(
  (_: unknown, context: ExecutionContext): SignInOrigin => {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return { ...originOf(request), userAgent: userAgentOf(request.headers['user-agent']) };
  },
);

function originOf(request: FastifyRequest): Origin {
  return { requestId: request.id, address: clientAddress(request) };
}
