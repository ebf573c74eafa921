import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** The organization of the path, as RolesGuard found it. */
export interface CurrentOrg {
  id: string;
  name: string;
  revision: number;
}

export const CurrentOrg = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentOrg =>
    context.switchToHttp().getRequest<{ org: CurrentOrg }>().org,
);
