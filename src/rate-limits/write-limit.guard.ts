import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { needsUser, RouteAccess } from '../access/route-access.js';
import { Env } from '../config/env.js';
import { admit } from './admissions.js';
import { countersOf } from './rate-limit-rules.js';
import { RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

// Counts a user's changes over all routes, right after authentication: one that is refused for its role, its body or a
// used key has cost a query by then, and so counts, too. Logging out does not: nothing may keep anybody from it.
@Injectable()
export class WriteLimitGuard implements CanActivate {
  constructor(
    private readonly env: Env,
    private readonly reflector: Reflector,
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (this.env.rateLimitWrites === undefined) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const access = this.reflector.get(RouteAccess, context.getHandler());
    const isChange = !READS.has(request.method) && access !== undefined && needsUser(access);
    return !isChange || this.count(request, http.getResponse<FastifyReply>());
  }

  private async count(request: FastifyRequest, reply: FastifyReply): Promise<true> {
    const counters = countersOf(this.env, ['writes'], request);
    admit(request, reply, counters, await this.store.admit(counters));
    return true;
  }
}
