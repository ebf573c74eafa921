import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Ends a request whose answer is known: everything done so far is rolled back. */
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
