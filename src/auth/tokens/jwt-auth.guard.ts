import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { RouteAccess } from '../../access/access.decorators.js';
import { InvalidTokenError, UnauthorizedError } from './tokens.errors.js';

/** Lets nobody in without a valid token, except on the routes declared public. */
@Injectable()
export class JwtAuthGuard extends AuthGuard('jwt') {
  constructor(private readonly reflector: Reflector) {
    super();
  }

  override canActivate(context: ExecutionContext) {
    const access = this.reflector.get(RouteAccess, context.getHandler());
    return access?.to === 'everyone' || super.canActivate(context);
  }

  override handleRequest<User>(
    error: unknown,
    user: User | false,
    _info: unknown,
    context: ExecutionContext,
  ): User {
    if (error) throw error;
    if (user) return user;
    const { authorization } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    throw authorization === undefined ? new UnauthorizedError() : new InvalidTokenError();
  }
}
