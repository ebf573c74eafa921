import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { userOf } from '../access/principal.js';
import { RepeatedRequests } from './repeated-requests.js';
import { parseKey, requestKey } from './request-key.js';
import { writeOptions } from './write-options.js';

/** Repeats the first answer to a request with the same key, before anything else is checked about it. */
@Injectable()
export class ReplayGuard implements CanActivate {
  constructor(private readonly repeated: RepeatedRequests) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const header = request.headers['idempotency-key'];
    if (typeof header !== 'string' || writeOptions(request).idempotencyKey !== true) return true;
    const key = parseKey(header);
    // A malformed key is reported later, when it is known whether the caller may be told.
    return key === undefined || this.refuseRepeated(request, key);
  }

  private async refuseRepeated(request: FastifyRequest, text: string): Promise<true> {
    const key = requestKey(text, request);
    const answer = await this.repeated.findAnswer(userOf(request).id, key);
    if (answer) throw answer;
    request.key = key;
    return true;
  }
}
