import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { HTTP_CODE_METADATA } from '@nestjs/common/constants.js';
import type { RequestKey } from './request-key.js';
import type { Actor, UserActor } from '../access/principal.js';
import type { EntityTags } from './entity-tags.js';
import { actorOf } from '../http/request-origin.js';

/** The headers and query parameters that a change takes besides path and body. */
export interface WriteOptions {
  ifMatch?: boolean;
  idempotencyKey?: boolean;
  dryRun?: boolean;
  remedy?: boolean;
  /** query parameters that the handler reads itself */
  query?: readonly string[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    write?: WriteOptions;
  }
  interface FastifyRequest {
    /** set for a route that takes a key, once the caller is known */
    key?: RequestKey;
    writeControls?: WriteControls;
  }
}

export function writeOptions({ routeOptions }: FastifyRequest): WriteOptions {
  return routeOptions.config.write ?? {};
}

export interface WriteControls {
  /** states that the change is meant for */
  ifMatch?: EntityTags;
  /** everything is rolled back once the answer is known */
  dryRun: boolean;
  withRemedy: boolean;
  /** the change is made once, however often it is asked for */
  key?: RequestKey;
}

export interface Write extends WriteControls {
  actor: UserActor;
  status: number;
}

/** Operators over HTTP, the CLI and jobs pass an actor alone. */
export type AnyWrite = Write | { actor: Actor };

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

/** Marks every answer to a dry run, including refusals of the body and of the caller. */
export function markDryRuns(fastify: FastifyInstance): void {
  fastify.decorateRequest('key', undefined);
  fastify.decorateRequest('writeControls', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    const { dryRun } = request.query as { dryRun?: unknown };
    if (dryRun === 'true' && writeOptions(request).dryRun === true) reply.header('Dry-Run', 'true');
    done();
  });
}
