import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module.js';
import { UserOperationsController } from './user-operations.controller.js';
import { UserOperations } from './user-operations.js';

/** Left out where OPERATORS_API is off, and its routes with it. */
@Module({
  imports: [UsersModule],
  controllers: [UserOperationsController],
  providers: [UserOperations],
})
export class OperatorsModule {}
