import type { ServerResponse } from 'node:http';
import {
  applyDecorators,
  type ArgumentsHost,
  Catch,
  createParamDecorator,
  type DynamicModule,
  type ExecutionContext,
  HttpException,
  Inject,
  type InjectionToken,
  mixin,
  Module,
  type ModuleMetadata,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { createGuard } from './service/feed-guard.ts';
import type { GuardOptions } from './service/guard-options.ts';
import type { Guard } from './service/guard.ts';
import type { Refusal } from './service/refusal.ts';
import {
  admissionOf,
  memberCheck,
  type MemberRequirement,
  type OrByKey,
  type RouteCheck,
  type RouteRequest,
  serviceCheck,
  userCheck,
  type UserRequirement,
} from './service/route-checks.ts';

export { serviceOf } from './service/route-checks.ts';
export type { MemberRequirement, RouteRequest, UserRequirement } from './service/route-checks.ts';

/** Injection token of the guard: `@Inject(GUARD) guard: Guard`. Tests override this provider with `fakeGuard()`. */
export const GUARD: unique symbol = Symbol.for('accounts-client/guard');

/** Creates the options of the guard from other providers, such as a ConfigService. */
export interface AsyncGuardOptions extends Pick<ModuleMetadata, 'imports'> {
  inject?: InjectionToken[];
  useFactory: (...injected: never[]) => GuardOptions | Promise<GuardOptions>;
}

/** Provides the guard of a service, and closes it with the application. Import it once, in the root module. */
export class AccountsModule {
  private readonly guard: Guard;

  constructor(guard: Guard) {
    this.guard = guard;
  }

  /** @throws TypeError at start, for an option that is unknown, missing, empty or of a wrong type */
  static forRoot(options: GuardOptions): DynamicModule {
    return this.forRootAsync({ useFactory: () => options });
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: AsyncGuardOptions): DynamicModule {
    const make = async (...injected: never[]): Promise<Guard> => createGuard(await useFactory(...injected));
    const provider = { provide: GUARD, inject, useFactory: make };
    return { module: AccountsModule, global: true, imports, providers: [provider], exports: [GUARD] };
  }

  /** Nest calls it after the last request has ended. */
  onApplicationShutdown(): Promise<void> {
    return this.guard.close();
  }
}
Module({})(AccountsModule);
Inject(GUARD)(AccountsModule, undefined, 0);

type Decorator = ClassDecorator & MethodDecorator;

/**
 * Admits any user with a valid access token to a route or a controller. `@Admitted()` is the user.
 *
 * @throws TypeError for an invalid requirement
 */
export const RequireUser = (requirement: UserRequirement = {}): Decorator =>
  guardedBy(userCheck(requirement));

/**
 * Admits members of the organization `:orgId` of the path to a route or a controller. `@Admitted()` is the member. If a
 * route and its controller both have a requirement, a request must meet both. The header `Accounts-Revision` is the lowest
 * revision on which the guard may decide.
 *
 * @throws TypeError for an invalid requirement
 */
export const RequireMember = (requirement: MemberRequirement = {}): Decorator =>
  guardedBy(memberCheck(requirement));

/**
 * Admits the services `from` to a route or a controller when they call for themselves. `serviceOf(request).name` is the service.
 *
 * @throws TypeError for anything but a name or a list of names
 */
export const RequireService = (from: string | readonly string[]): Decorator => guardedBy(serviceCheck(from));

/**
 * The user or the member whom the route has admitted: `@Admitted() member: MemberAdmission`. If the route has `keys: true`:
 * `@Admitted({ keys: true }) caller: MemberAdmission | MemberKeyAdmission`.
 */
export const Admitted: (or?: OrByKey) => ParameterDecorator = createParamDecorator(
  (or: OrByKey | undefined, context: ExecutionContext) =>
    admissionOf(context.switchToHttp().getRequest<object>(), or!),
);

function guardedBy(check: RouteCheck): Decorator {
  class RouteGuard {
    private readonly guard: Guard;

    constructor(guard: Guard) {
      this.guard = guard;
    }

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const refusal = await check(this.guard, context.switchToHttp().getRequest<RouteRequest>());
      if (refusal) throw new RefusedException(refusal);
      return true;
    }
  }
  Inject(GUARD)(RouteGuard, undefined, 0);
  return applyDecorators(UseGuards(mixin(RouteGuard)), UseFilters(RefusalFilter));
}

/** Your own exception filter may catch it, too. */
export class RefusedException extends HttpException {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.problem, refusal.status);
    this.refusal = refusal;
  }
}

interface FastifyReply {
  code(status: number): void;
  headers(headers: Record<string, string>): void;
  send(body: string): void;
}

/** Nest itself would send `application/json` without the headers. */
class RefusalFilter {
  catch({ refusal }: RefusedException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ServerResponse | FastifyReply>();
    const { status, headers, problem } = refusal;
    if ('code' in response) {
      response.code(status);
      response.headers(headers);
      response.send(JSON.stringify(problem));
    } else if (!response.headersSent) response.writeHead(status, headers).end(JSON.stringify(problem));
  }
}
Catch(RefusedException)(RefusalFilter);
