import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

export interface CurrentOrg {
  id: string;
  name: string;
  revision: number;
}

export const CurrentOrg = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentOrg =>
    context.switchToHttp().getRequest<{ org: CurrentOrg }>().org,
);
