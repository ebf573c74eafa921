import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { CurrentUser } from '../access/current-user.decorator.js';
import { actorOf } from '../http/current-actor.decorator.js';
import type { Write } from './write.js';

export const CurrentWrite = createParamDecorator((_: unknown, context: ExecutionContext): Write => ({
  actor: actorOf(context.switchToHttp().getRequest<FastifyRequest & { user: CurrentUser }>()),
}));
