import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { serviceOf } from './principal.js';
import type { ServicePrincipal } from './service-principal.js';

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
