import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { BoundTokenError, InvalidClientError } from '../access/access.errors.js';
import type { Principal, ServicePrincipal, UserPrincipal } from '../access/principal.js';
import { type Access, requireAccess, RouteAccess, takesBoundTokens } from '../access/route-access.js';
import { Env } from '../config/env.js';
import { ServiceCredentials, showsSecret } from '../services/service-credentials.js';
import { LiveTokens } from './live-tokens.js';
import { bearerToken, soleAuthorization } from './tokens/token-verifier.js';
import { InvalidTokenError, UnauthorizedError } from './tokens/tokens.errors.js';

// Finds who sent a request by the one header that tells: a user by a token, a service by its credentials. Then requires
// what the route declares of them; only roles are left to a later guard.
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: LiveTokens,
    private readonly credentials: ServiceCredentials,
    private readonly env: Env,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.get(RouteAccess, context.getHandler());
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!letsInNobody(access, request)) request.principal = await this.findPrincipal(access, request);
    requireAccess(access, request, this.env);
    return true;
  }

  /** A route that declares nothing asks for a user, and is refused to them. */
  private findPrincipal(access: Access | undefined, request: FastifyRequest): Promise<Principal> {
    const isForServices = access?.to === 'services' || access?.to === 'everyone';
    return isForServices ? this.findService(request) : this.findUser(access, request);
  }

  private async findService(request: FastifyRequest): Promise<ServicePrincipal> {
    const service = await this.credentials.authenticate(soleAuthorization(request));
    if (!service) throw new InvalidClientError();
    return service;
  }

  private async findUser(access: Access | undefined, request: FastifyRequest): Promise<UserPrincipal> {
    if (request.headers.authorization === undefined) throw new UnauthorizedError();
    const token = bearerToken(request);
    if (token === undefined) throw new InvalidTokenError('malformed');
    const found = await this.tokens.find(token);
    if (found.kind === 'refused') throw new InvalidTokenError(found.reason);
    if (found.holder.audience !== null && !takesBoundTokens(access)) throw new BoundTokenError();
    return found.holder;
  }
}

/** A refresh token in the body may have any value: a client that logs out with it need not have a good access token. */
function letsInNobody(access: Access | undefined, request: FastifyRequest): boolean {
  const { body } = request;
  if (access?.to === 'everyone') return access.or !== 'service' || !showsSecret(soleAuthorization(request));
  if (access?.to !== 'signed-in' || access.or !== 'refresh-token') return false;
  return typeof body === 'object' && body !== null && 'refreshToken' in body;
}
