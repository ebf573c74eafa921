import { Injectable } from '@nestjs/common';
import { Env } from '../config/env.js';
import { isForeignKeyViolation } from '../database/database-errors.js';
import { Transactions } from '../database/transactions.js';
import { UsersService } from '../users/users.service.js';
import { InvalidCredentialsError } from './auth.errors.js';
import { CodesService } from './codes/codes.service.js';
import type { SignInResult, TokenResult } from './dto/auth.responses.js';
import type { HashClient } from './passwords/hash-queue.js';
import { PasswordHasher } from './passwords/password-hasher.js';
import { newSession } from './sessions/new-session.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { TokenIssuer } from './tokens/token-issuer.js';

/** Takes canonical e-mails and normalized passwords: the DTOs produce them. */
@Injectable()
export class AuthService {
  constructor(
    private readonly users: UsersService,
    private readonly passwords: PasswordHasher,
    private readonly sessions: SessionsRepository,
    private readonly codes: CodesService,
    private readonly tokens: TokenIssuer,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** The database decides whether the e-mail is taken: asking first would race, and tell by its timing. */
  async register(email: string, password: string, client: HashClient): Promise<SignInResult> {
    const hash = await this.passwords.hash(password, client);
    const { user, session } = await this.transactions.run(async (transaction) => {
      const created = await this.users.create(transaction, email, hash);
      const opened = newSession(this.env, created.id);
      await this.sessions.insertIn(transaction, opened);
      return { user: created, session: opened };
    });
    return { token: this.tokens.issue(session), user: { id: user.id, email: user.email } };
  }

  /** Does the same work whether or not the e-mail is known. */
  async login(email: string, password: string, client: HashClient): Promise<SignInResult> {
    const user = await this.users.findCredentials(email);
    const { matches, replacement } = await this.passwords.verify(user?.passwordHash, password, client);
    if (!user || !matches) throw new InvalidCredentialsError();

    // Only a login has the plain password that rehashing needs.
    if (replacement !== undefined) await this.users.replacePasswordHash(user, replacement);
    const session = newSession(this.env, user.id);
    try {
      await this.sessions.insert(session);
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidCredentialsError() : error;
    }
    return { token: this.tokens.issue(session), user: { id: user.id, email: user.email } };
  }

  async exchangeCode(code: string, codeVerifier?: string): Promise<TokenResult> {
    const session = await this.codes.exchange(code, codeVerifier);
    return { token: this.tokens.issue(session) };
  }
}
