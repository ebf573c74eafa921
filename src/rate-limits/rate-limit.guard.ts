import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { Env } from '../config/env.js';
import { clientAddress } from '../http/request-origin.js';
import { admit } from './admissions.js';
import { FailedLogins, KnownAddresses } from './login-limits.js';
import { countersOf, emailIn, type NamedCounter, type RateLimitName, refusalOf } from './rate-limit-rules.js';
import { type Admission, clientKey, RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';
import { needsUser, RouteAccess } from '../access/route-access.js';
import { ApiProblems } from '../openapi/decorators.js';
import { validationPipe } from '../http/fields.js';

const LimitedBy = Reflector.createDecorator<readonly RateLimitName[]>();

/** Decides all limits of a route in one step, so that no limit counts what another limit refuses. */
@Injectable()
class RateLimitGuard extends ThrottlerGuard {
  @Inject(Env) private readonly env: Env;
  @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore;
  @Inject(KnownAddresses) private readonly known: KnownAddresses;
  @Inject(FailedLogins) private readonly failed: FailedLogins;

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const counters = countersOf(this.env, this.reflector.get(LimitedBy, context.getHandler()), request);
    if (counters.length === 0) return true;

    await validateBody(context);
    const { admission, decisive } = await this.decide(counters, request);
    const userId = admission.admitted ? undefined : this.failed.findUser(emailIn(request));
    admit(request, reply, decisive, admission, userId);
    return true;
  }

  private async decide(
    counters: NamedCounter[],
    request: FastifyRequest,
  ): Promise<{ decisive: NamedCounter[]; admission: Admission }> {
    const admission = await this.store.admit(counters);
    if (!isRefusedForAccountOnly(counters, admission)) return { decisive: counters, admission };
    // The attempt always counts for the other limits, which bound the number of queries.
    const others = counters.filter(({ name }) => name !== 'account');
    const byOthers = await this.store.admit(others);
    const known = byOthers.admitted ? await this.known.keysOf(emailIn(request)!) : undefined;
    return known?.has(clientKey(clientAddress(request)))
      ? { decisive: others, admission: byOthers }
      : { decisive: counters, admission };
  }
}

function isRefusedForAccountOnly(counters: NamedCounter[], { admitted, quotas }: Admission): boolean {
  return !admitted && counters.every(({ name }, i) => (quotas[i]!.remaining === 0) === (name === 'account'));
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Counts the changes of a user over all routes, including refused changes. It never limits logout. */
@Injectable()
export class WriteLimitGuard implements CanActivate {
  constructor(
    private readonly env: Env,
    private readonly reflector: Reflector,
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.env.rateLimitWrites === undefined) return true;
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const access = this.reflector.get(RouteAccess, context.getHandler());
    if (READS.has(request.method) || access === undefined || !needsUser(access)) return true;
    const counters = countersOf(this.env, ['writes'], request);
    admit(request, reply, counters, await this.store.admit(counters));
    return true;
  }
}

export const RateLimited = (...names: [RateLimitName, ...RateLimitName[]]): MethodDecorator =>
  applyDecorators(
    LimitedBy(names),
    UseGuards(RateLimitGuard),
    ApiProblems({ code: 'rate_limited', detail: refusalOf(names[0]) }),
  );

const pipe = validationPipe();

/** Invalid requests must not push the counters of logins out of a full store. */
async function validateBody(context: ExecutionContext): Promise<void> {
  const controller = context.getClass();
  const { name } = context.getHandler();
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) as
    | Record<string, { index: number }>
    | undefined;
  const found = Object.entries(parameters ?? {}).find(([key]) => key.startsWith(`${RouteParamtypes.BODY}:`));
  if (!found) return;
  const types = Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, name) as Type[];
  const { body } = context.switchToHttp().getRequest<FastifyRequest>();
  await pipe.transform(body, { type: 'body', metatype: types[found[1].index] });
}
