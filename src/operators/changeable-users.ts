import { Injectable } from '@nestjs/common';
import type { SignedInOperator } from '../access/actor.js';
import { requireUnprotected } from '../users/operator-protection.js';
import { type UserProfile, UsersRepository } from '../users/users.repository.js';
import { NoSuchUserError } from './operators.errors.js';

/** Refuses at once what the transaction of the change would refuse, too, before it does slow work. */
@Injectable()
export class ChangeableUsers {
  constructor(private readonly users: UsersRepository) {}

  /** @throws NoSuchUserError, OperatorProtectedError */
  async require(userId: string, operator: SignedInOperator): Promise<UserProfile> {
    const user = await this.users.findById(userId);
    if (!user) throw new NoSuchUserError();
    requireUnprotected(operator, user.operatorSince);
    return user;
  }
}
