import { applyDecorators, type Type } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { LINK_HEADER } from '../openapi/responses.js';
import { INVALID_LIMIT } from './page-query.decorators.js';

export const ApiPage = (type: Type): MethodDecorator =>
  applyDecorators(
    ApiOkResponse({ type, headers: LINK_HEADER }),
    ApiProblems(invalidFields({ limit: INVALID_LIMIT })),
  );
