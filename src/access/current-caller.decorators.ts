import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { serviceOf, type ServicePrincipal, userOf, type UserPrincipal } from './principal.js';

export interface CurrentOrg {
  id: string;
  name: string;
  revision: number;
}

export const CurrentOrg = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentOrg =>
    context.switchToHttp().getRequest<{ org: CurrentOrg }>().org,
);

/** Gives the service whose credentials came with a request to a route for everyone. */
export const ServiceIfAny = createParamDecorator(
  (_: unknown, context: ExecutionContext): ServicePrincipal | undefined => {
    const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
    return principal?.kind === 'service' ? principal : undefined;
  },
);

export const CurrentService = createParamDecorator(
  (_: unknown, context: ExecutionContext): ServicePrincipal =>
    serviceOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** Serves routes that also let in callers without a token. */
export const CallerIfAny = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  return principal?.kind === 'user' ? principal : undefined;
});

export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): UserPrincipal =>
  userOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
