import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Ends a request whose answer is known: everything done so far is rolled back. */
export class EarlyAnswer extends Error {
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

@Catch(EarlyAnswer)
export class EarlyAnswerFilter implements ExceptionFilter<EarlyAnswer> {
  catch(answer: EarlyAnswer, host: ArgumentsHost): void {
    answer.send(host.switchToHttp().getResponse<FastifyReply>());
  }
}
