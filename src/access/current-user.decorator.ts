import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** The signed-in user, as JwtAuthGuard found them. */
export interface CurrentUser {
  id: string;
  email: string;
  sessionId: string;
  /** the session that this one was derived from by a code; null: a login by password */
  parentId: string | null;
}

/** Undefined on routes that need nobody signed in. */
export const CallerIfAny = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentUser | undefined =>
    context.switchToHttp().getRequest<{ user?: CurrentUser }>().user,
);

export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentUser =>
    context.switchToHttp().getRequest<{ user: CurrentUser }>().user,
);
