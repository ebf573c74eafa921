import { Injectable } from '@nestjs/common';
import type { Origin, UserActor } from '../access/actor.js';
import { Env } from '../config/env.js';
import { isForeignKeyViolation } from '../database/database-errors.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import type { NewEvent } from '../events/new-event.js';
import { UsersService } from '../users/users.service.js';
import { AccountDisabledError, InvalidCredentialsError } from './auth.errors.js';
import { CodesService } from './codes/codes.service.js';
import type { SignInResult, TokenResult } from './dto/auth.responses.js';
import type { HashClient } from './passwords/hash-queue.js';
import { PasswordHasher } from './passwords/password-hasher.js';
import { type NewSession, newSession } from './sessions/new-session.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { TokenIssuer } from './tokens/token-issuer.js';

/** E-mails are given in canonical form, passwords normalized: DTOs make them so. */
@Injectable()
export class AuthService {
  constructor(
    private readonly users: UsersService,
    private readonly passwords: PasswordHasher,
    private readonly sessions: SessionsRepository,
    private readonly codes: CodesService,
    private readonly tokens: TokenIssuer,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /**
   * Whether the e-mail is taken is known only after the hashing, by the database: asking first would lose races
   * and answer faster for known e-mails.
   *
   * @throws EmailTakenError
   */
  async register(email: string, password: string, client: HashClient, origin: Origin): Promise<SignInResult> {
    const hash = await this.passwords.hash(password, client);
    const { user, session } = await this.transactions.run(async (transaction) => {
      const created = await this.users.create(transaction, email, hash);
      const opened = newSession(this.env, { userId: created.id, authEpoch: created.authEpoch });
      await this.sessions.insert(transaction, opened);
      const actor = actorOf(opened, origin);
      await this.events.record(
        transaction,
        { type: 'account.registered', actor, userId: created.id, userRevision: created.revision },
        sessionStarted(opened, actor, 'register'),
      );
      return { user: created, session: opened };
    });
    return { token: this.tokens.issue(session), user: { id: user.id, email: user.email } };
  }

  /**
   * Does the same work whether or not the e-mail is known.
   *
   * @throws InvalidCredentialsError, AccountDisabledError to who knows the password
   */
  async login(email: string, password: string, client: HashClient, origin: Origin): Promise<SignInResult> {
    const user = await this.users.findCredentials(email);
    const { matches, replacement } = await this.passwords.verify(user?.passwordHash, password, client);
    if (!user || !matches) throw new InvalidCredentialsError();
    if (user.disabledAt !== null) throw new AccountDisabledError();

    // The only moment when the password is at hand to be hashed at the cost that is configured now.
    if (replacement !== undefined) await this.users.replacePasswordHash(user, replacement);
    // Of the epoch that was read with the hash: whatever ended all sessions meanwhile has ended this one too.
    const session = newSession(this.env, { userId: user.id, authEpoch: user.authEpoch });
    const event = sessionStarted(session, actorOf(session, origin), 'login');
    try {
      await this.transactions.run(async (transaction) => {
        await this.sessions.insert(transaction, session);
        await this.events.record(transaction, event);
      });
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidCredentialsError() : error;
    }
    return { token: this.tokens.issue(session), user: { id: user.id, email: user.email } };
  }

  async exchangeCode(code: string, codeVerifier: string | undefined, origin: Origin): Promise<TokenResult> {
    const session = await this.codes.exchange(code, codeVerifier, origin);
    return { token: this.tokens.issue(session) };
  }
}

/** Whoever signs in acts as the session that he gets. */
function actorOf({ id: sessionId, userId: id }: NewSession, origin: Origin): UserActor {
  return { kind: 'user', id, sessionId, ...origin };
}

function sessionStarted(session: NewSession, actor: UserActor, via: 'register' | 'login'): NewEvent {
  return {
    type: 'session.started',
    actor,
    userId: session.userId,
    sessionId: session.id,
    data: { via },
  };
}
