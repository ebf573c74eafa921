import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { OperatorRequiredError, ScopeRequiredError, UndeclaredAccessError } from './access.errors.js';
import { requireAssurance } from './assurance.js';
import { type Principal, userOf } from './principal.js';
import { type Access, RouteAccess } from './route-access.js';
import type { ServiceScope } from './service-principal.js';

/** Requires what a route declares of the principal and of its session; roles are checked before. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.get(RouteAccess, context.getHandler());
    if (access === undefined) throw new UndeclaredAccessError();
    requireAccess(access, context.switchToHttp().getRequest<FastifyRequest>());
    return true;
  }
}

function requireAccess(access: Access, request: { principal?: Principal }): void {
  if (access.to === 'everyone') return;
  if (access.to === 'services') requireScope(access.scope, request);
  else if (access.to === 'operators') requireOperator(request);
  if ('assurance' in access) requireAssurance(userOf(request), access.assurance);
}

function requireScope(scope: ServiceScope, { principal }: { principal?: Principal }): void {
  if (principal?.kind !== 'service' || !principal.allow.includes(scope)) throw new ScopeRequiredError(scope);
}

function requireOperator(request: { principal?: Principal }): void {
  if (userOf(request).isOperator !== true) throw new OperatorRequiredError();
}
