import { Injectable } from '@nestjs/common';
import { type Credentials, UsersRepository } from '../../users/users.repository.js';
import { WrongPasswordError } from '../auth.errors.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import type { HashClient } from './hash-queue.js';
import { PasswordHasher } from './password-hasher.js';

/** Compares the password of somebody who is signed in. */
@Injectable()
export class OwnPasswordService {
  constructor(
    private readonly users: UsersRepository,
    private readonly passwords: PasswordHasher,
  ) {}

  /** @throws WrongPasswordError, InvalidTokenError */
  async verify(userId: string, password: string, client: HashClient): Promise<Credentials> {
    const credentials = await this.users.findCredentialsById(userId);
    if (!credentials || credentials.disabledAt !== null) throw new InvalidTokenError('user_gone');
    const { matches } = await this.passwords.verify(credentials.passwordHash, password, client);
    if (!matches) throw new WrongPasswordError();
    return credentials;
  }
}
