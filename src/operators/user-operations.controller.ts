import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { SignedInOperator } from '../access/actor.js';
import { Operators } from '../access/access.decorators.js';
import { CurrentOperator } from '../http/current-operator.decorator.js';
import { EntityIdPipe } from '../http/entity-id.pipe.js';
import { OkResult } from '../http/ok.responses.js';
import { ReasonRequest } from './dto/reason.request.js';
import { ChangesAccount } from './operation.decorators.js';
import { UserOperations } from './user-operations.js';

@ApiTags('Operators')
@Controller('api/operators/users/:userId')
export class UserOperationsController {
  constructor(private readonly users: UserOperations) {}

  /**
   * Enable an account
   *
   * @remarks The user can log in again; ended sessions stay ended. An account that is not disabled stays as it is.
   */
  @Post('enable')
  @HttpCode(200)
  @Operators()
  @ChangesAccount()
  enableUser(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResult> {
    return this.users.enable(userId, { ...operator, reason });
  }
}
