import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { HTTP_CODE_METADATA } from '@nestjs/common/constants.js';
import type { FastifyRequest } from 'fastify';
import { actorOf } from '../http/current-actor.decorator.js';
import type { Write } from './write.js';

export const CurrentWrite = createParamDecorator((_: unknown, context: ExecutionContext): Write => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return {
    dryRun: false,
    withRemedy: false,
    ...request.writeControls,
    actor: actorOf(request),
    status: successOf(request, context),
  };
});

/** Finds the status that Nest will answer a success with. */
function successOf({ method }: FastifyRequest, context: ExecutionContext): number {
  const declared = Reflect.getMetadata(HTTP_CODE_METADATA, context.getHandler()) as number | undefined;
  return declared ?? (method === 'POST' ? 201 : 200);
}
