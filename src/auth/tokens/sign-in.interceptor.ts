import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { FastifyRequest } from 'fastify';
import { type Observable, tap } from 'rxjs';
import type { AccessTokenClaims } from './access-token.js';

/** Notes for the log whom a new token is for: such a request came without one that would say so. */
@Injectable()
export class SignInInterceptor implements NestInterceptor<{ token: string }> {
  constructor(private readonly jwt: JwtService) {}

  intercept(context: ExecutionContext, next: CallHandler<{ token: string }>): Observable<{ token: string }> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const note = ({ token }: { token: string }): void => {
      request.signedInUserId = this.jwt.decode<AccessTokenClaims>(token).sub;
    };
    return next.handle().pipe(tap(note));
  }
}
