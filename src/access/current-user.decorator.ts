import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type UserPrincipal, userOf } from './principal.js';

/** Serves routes that also let in whoever sends no token. */
export const CallerIfAny = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  return principal?.kind === 'user' ? principal : undefined;
});

export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): UserPrincipal =>
  userOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
