import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

export interface CurrentUser {
  id: string;
  email: string;
  sessionId: string;
  /** the session from which a code derived this one; null for a login by password */
  parentId: string | null;
}

export const CallerIfAny = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentUser | undefined =>
    context.switchToHttp().getRequest<{ user?: CurrentUser }>().user,
);

export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentUser =>
    context.switchToHttp().getRequest<{ user: CurrentUser }>().user,
);
