import { applyDecorators, type Type } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { ApiProblems, invalidFields } from '../openapi/api-problems.decorator.js';
import { LINK_HEADER } from '../openapi/response-headers.js';
import { INVALID_LIMIT } from './page-query.decorators.js';

export const ApiPage = (type: Type): MethodDecorator =>
  applyDecorators(
    ApiOkResponse({ type, headers: LINK_HEADER }),
    ApiProblems(invalidFields({ limit: INVALID_LIMIT })),
  );
