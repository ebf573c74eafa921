import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { RouteAccess } from '../../access/route-access.js';
import type { CurrentUser } from '../../access/current-user.decorator.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import type { AccessTokenClaims } from './access-token.js';
import { bearerToken } from './bearer-token.js';
import { tokenRefusal } from './token-refusal.js';
import { InvalidTokenError, PasswordSessionRequiredError, UnauthorizedError } from './tokens.errors.js';
import { VerifiedTokens } from './verified-tokens.js';

type SignedRequest = FastifyRequest & { claims?: AccessTokenClaims };

/** Requires a valid token of a live session on every route not declared public. */
@Injectable()
export class JwtAuthGuard extends AuthGuard('jwt') {
  constructor(
    private readonly reflector: Reflector,
    private readonly verified: VerifiedTokens,
    private readonly sessions: SessionsRepository,
  ) {
    super({ property: 'claims' });
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.get(RouteAccess, context.getHandler());
    if (access?.to === 'everyone') return true;
    const request = context.switchToHttp().getRequest<SignedRequest>();
    if (access?.to === 'signed-in' && access.or === 'refresh-token' && hasRefreshToken(request)) return true;
    request.user = await this.findCaller(await this.findClaims(request, context));
    if (access?.to === 'signed-in' && access.by === 'password' && request.user.parentId !== null) {
      throw new PasswordSessionRequiredError();
    }
    return true;
  }

  override handleRequest<Claims>(
    error: unknown,
    claims: Claims | false,
    info: unknown,
    context: ExecutionContext,
  ): Claims {
    if (error) throw error;
    if (claims) return claims;
    const { authorization } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    throw authorization === undefined ? new UnauthorizedError() : new InvalidTokenError(tokenRefusal(info));
  }

  private async findClaims(request: SignedRequest, context: ExecutionContext): Promise<AccessTokenClaims> {
    const token = bearerToken(request);
    const known = token === null ? undefined : this.verified.find(token);
    if (known) return known;
    await super.canActivate(context);
    if (!request.claims) throw new InvalidTokenError('claims');
    return request.claims;
  }

  private async findCaller({ sid, sub }: AccessTokenClaims): Promise<CurrentUser> {
    const caller = await this.sessions.findCaller(sid);
    if (caller?.id !== sub) throw new InvalidTokenError('session_ended');
    return caller;
  }
}

/** Accepts any value: a client that logs out with it need not have an access token that is still good. */
function hasRefreshToken({ body }: FastifyRequest): boolean {
  return typeof body === 'object' && body !== null && 'refreshToken' in body;
}
