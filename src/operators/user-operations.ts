import { Injectable } from '@nestjs/common';
import type { SignedInOperator } from '../access/actor.js';
import { OK, type OkResult } from '../http/ok.responses.js';
import { requireUnprotected } from '../users/operator-protection.js';
import { UserDisablingService } from '../users/user-disabling.service.js';
import { type UserProfile, UsersRepository } from '../users/users.repository.js';
import { NoSuchUserError } from './operators.errors.js';

/** Has the services that the commands call change an account, and refuses at once what they would refuse in the end. */
@Injectable()
export class UserOperations {
  constructor(
    private readonly users: UsersRepository,
    private readonly disabling: UserDisablingService,
  ) {}

  async enable(userId: string, operator: SignedInOperator): Promise<OkResult> {
    const { id } = await this.findChangeable(userId, operator);
    await this.disabling.enable(id, operator);
    return OK;
  }

  /** @throws NoSuchUserError, OperatorProtectedError */
  private async findChangeable(userId: string, operator: SignedInOperator): Promise<UserProfile> {
    const user = await this.users.findById(userId);
    if (!user) throw new NoSuchUserError();
    requireUnprotected(operator, user.operatorSince);
    return user;
  }
}
