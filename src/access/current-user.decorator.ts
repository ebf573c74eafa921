import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** The signed-in user, as JwtAuthGuard found them. */
export interface CurrentUser {
  id: string;
  email: string;
  sessionId: string;
}

export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentUser =>
    context.switchToHttp().getRequest<{ user: CurrentUser }>().user,
);
