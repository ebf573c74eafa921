import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** The signed-in user, as JwtAuthGuard found them. */
export interface CurrentUser {
  id: string;
  email: string;
  sessionId: string;
  /** the session that this one was derived from by a code; null: a login by password */
  parentId: string | null;
}

export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentUser =>
    context.switchToHttp().getRequest<{ user: CurrentUser }>().user,
);
