import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { serviceOf } from './principal.js';
import type { ServicePrincipal } from './service-principal.js';

export type CurrentService = ServicePrincipal;

export const CurrentService = createParamDecorator((_: unknown, context: ExecutionContext): CurrentService =>
  serviceOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
