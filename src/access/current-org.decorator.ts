import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** The organization that the path names, as the role check found it for this request. */
export interface CurrentOrg {
  id: string;
  name: string;
}

export const CurrentOrg = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentOrg =>
    context.switchToHttp().getRequest<{ org: CurrentOrg }>().org,
);
