import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { type LimitedRequest, RateLimiting, sendQuotas } from './rate-limiting.js';

/** Gives an admitted request back to its limits when it ends in a way that they do not count. */
@Injectable()
export class GiveBackInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const { counted } = http.getRequest<LimitedRequest>();
    if (!counted) return next.handle();

    const answer = lastValueFrom(next.handle());
    const error: unknown = await answer.then(() => undefined).catch((reason: unknown) => reason);
    if (!this.reflector.get(RateLimiting, context.getHandler()).isCounted(error)) {
      sendQuotas(http.getResponse(), counted.counters, await counted.admission.giveBack());
    }
    return from(answer);
  }
}
