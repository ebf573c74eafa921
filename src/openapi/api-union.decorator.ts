import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';

/** Documents an answer of several classes by the schema that `addUnions` makes of them. */
export const ApiUnion = (status: number, schema: string, ...members: Type[]): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(...members),
    ApiResponse({ status, schema: { $ref: getSchemaPath(schema) } }),
  );
