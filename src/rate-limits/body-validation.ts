import type { ExecutionContext, Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import { validationPipe } from '../http/validation.js';

const pipe = validationPipe();

/**
 * Validates the body as the handler will, but leaves it raw: a request that validation refuses must not be counted.
 * Counters for any number of emails cost nothing otherwise, and push the counters of logins out of a full store.
 *
 * @throws ValidationProblem
 */
export async function validateBody(context: ExecutionContext): Promise<void> {
  const metatype = bodyTypeOf(context);
  if (metatype === undefined) return;
  const { body } = context.switchToHttp().getRequest<FastifyRequest>();
  await pipe.transform(body, { type: 'body', metatype });
}

function bodyTypeOf(context: ExecutionContext): Type | undefined {
  const controller = context.getClass();
  const { name } = context.getHandler();
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) as
    | Record<string, { index: number }>
    | undefined;
  const found = Object.entries(parameters ?? {}).find(([key]) => key.startsWith(`${RouteParamtypes.BODY}:`));
  const types = Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, name) as Type[];
  return found && types[found[1].index];
}
