import { applyDecorators } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Operators } from '../access/access.decorators.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { SERVICE_NAME } from '../services/service-name.js';
import { REASON_NEEDED } from './dto/reason.request.js';
import { NO_SUCH_USER } from './operators.errors.js';

export const ApiUserId = (): MethodDecorator =>
  ApiParam({ name: 'userId', type: String, format: 'uuid', description: 'id of the user' });

export const ApiServiceName = (): MethodDecorator =>
  ApiParam({
    name: 'name',
    schema: { type: 'string', pattern: SERVICE_NAME.source },
    description: 'name of the service',
  });

/** Declares a change by an operator, which takes a reason. */
export const Operation = (): MethodDecorator =>
  applyDecorators(Operators(), ApiProblems(invalidFields({ reason: REASON_NEEDED })));

/** Declares a change of an account: that of an operator is refused. */
export const AccountOperation = (): MethodDecorator =>
  applyDecorators(
    Operation(),
    ApiProblems({ code: 'user_not_found', detail: NO_SUCH_USER }, 'operator_protected'),
  );
