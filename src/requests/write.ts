import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type ArgumentsHost,
  Catch,
  createParamDecorator,
  type ExceptionFilter,
  type ExecutionContext,
} from '@nestjs/common';
import { HTTP_CODE_METADATA } from '@nestjs/common/constants.js';
import type { Actor, UserActor } from '../access/principal.js';
import { actorOf } from '../http/request-origin.js';
import type { WriteControls } from './write-controls.js';

export interface Write extends WriteControls {
  kind: 'request';
  actor: UserActor;
  status: number;
}

/** A change by a request, or by an operator, a command or a job, which names only its actor. */
export type AnyWrite = Write | { kind?: undefined; actor: Actor };

export const CurrentWrite = createParamDecorator((_: unknown, context: ExecutionContext): Write => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const declared = Reflect.getMetadata(HTTP_CODE_METADATA, context.getHandler()) as number | undefined;
  return {
    kind: 'request',
    dryRun: false,
    ...request.writeControls,
    actor: actorOf(request),
    status: declared ?? (request.method === 'POST' ? 201 : 200),
  };
});

export class ShortCircuitResponse extends Error {
  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: Record<string, string> = {},
  ) {
    super('answered early');
  }

  send(reply: FastifyReply): void {
    void reply.status(this.status).headers(this.headers).send(this.body);
  }
}

@Catch(ShortCircuitResponse)
export class ShortCircuitResponseFilter implements ExceptionFilter<ShortCircuitResponse> {
  catch(answer: ShortCircuitResponse, host: ArgumentsHost): void {
    answer.send(host.switchToHttp().getResponse<FastifyReply>());
  }
}
