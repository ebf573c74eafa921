import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/principal.js';
import { requireProviderLogin } from '../../access/route-access.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { Problem, ValidationProblem } from '../../problems/problem.js';
import { NO_PASSWORD_HASH } from '../../users/user.entity.js';
import { type Credentials, UsersRepository } from '../../users/users.repository.js';
import type { HashClient } from '../passwords/hash-queue.js';
import { PasswordHasher } from '../passwords/password-hasher.js';
import { InvalidTokenError } from '../tokens/access-token.js';
import { type CheckedCode, SecondFactorVerification } from './second-factor-verification.js';

export interface OwnerProof {
  password?: string | undefined;
  code?: string | undefined;
}

export interface ProvenOwner {
  credentials: Credentials;
  code: CheckedCode | undefined;
}

/** Requires the password, and also a code if the user has two-factor authentication, since either may be stolen. */
@Injectable()
export class OwnerProofs {
  constructor(
    private readonly users: UsersRepository,
    private readonly passwords: PasswordHasher,
    private readonly verification: SecondFactorVerification,
    private readonly events: EventsRepository,
  ) {}

  /** A recent login at a provider stands for the password of a user who has none. @param field of the password */
  async verifyPassword(
    actor: UserActor,
    password: string | undefined,
    client: HashClient,
    field = 'password',
  ): Promise<Credentials> {
    const credentials = await this.users.findCredentialsById(actor.id);
    if (!credentials || credentials.disabledAt !== null) throw new InvalidTokenError('user_gone');
    if (password === undefined) {
      if (credentials.passwordHash !== NO_PASSWORD_HASH)
        throw new ValidationProblem([{ field, message: 'should not be empty' }]);
      requireProviderLogin(actor);
      return credentials;
    }
    const { matches } = await this.passwords.verify(credentials, password, client);
    if (!matches) throw new Problem('wrong_password');
    return credentials;
  }

  /** Call `use` in the transaction that acts. @throws wrong_password, InvalidTokenError, RateLimitedError */
  async verify(
    actor: UserActor,
    { password, code }: OwnerProof,
    client: HashClient,
    field?: string,
  ): Promise<ProvenOwner> {
    const credentials = await this.verifyPassword(actor, password, client, field);
    if (credentials.secondFactorAt === null) return { credentials, code: undefined };
    if (code === undefined)
      throw new ValidationProblem([{ field: 'code', message: 'must be a TOTP code or a recovery code' }]);
    return { credentials, code: await this.verification.check(credentials, 'signed-in', code) };
  }

  /** Call it after the statement that changes the user's row, if there is one. @throws invalid_second_factor_code */
  async use(tx: Transaction, { code }: Pick<ProvenOwner, 'code'>, actor: UserActor): Promise<void> {
    const used = code && (await this.verification.use(tx, code));
    if (used) await this.events.record(tx, { ...used, actor });
  }
}
