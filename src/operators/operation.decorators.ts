import { applyDecorators } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { ApiProblems, invalidFields } from '../openapi/api-problems.decorator.js';
import { REASON_NEEDED } from './dto/reason.request.js';
import { NO_SUCH_USER } from './operators.errors.js';

export const ApiUserId = (): MethodDecorator =>
  ApiParam({ name: 'userId', type: String, format: 'uuid', description: 'id of the user' });

/** Documents what every route below `/api/operators/users/:userId` refuses that changes something. */
export const ChangesAccount = (): MethodDecorator =>
  applyDecorators(
    ApiUserId(),
    ApiProblems(
      invalidFields({ reason: REASON_NEEDED }),
      { code: 'user_not_found', detail: NO_SUCH_USER },
      'operator_protected',
    ),
  );
