import { Injectable } from '@nestjs/common';
import type { SignInOrigin, UserActor } from '../access/actor.js';
import { Env } from '../config/env.js';
import { isForeignKeyViolation } from '../database/database-errors.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../record/events.repository.js';
import type { NewEvent } from '../record/new-event.js';
import { UsersService } from '../users/users.service.js';
import { AccountDisabledError, InvalidCredentialsError } from './auth.errors.js';
import { CodesService } from './codes/codes.service.js';
import type { SignInResult, TokenResult } from './dto/auth.responses.js';
import type { HashClient } from './passwords/hash-queue.js';
import { PasswordHasher } from './passwords/password-hasher.js';
import { RegistrationInvitations } from './registration-invitations.js';
import { type NewSession, newSession } from './sessions/new-session.js';
import { SessionTokens } from './refresh/session-tokens.js';
import { DerivedSessionsLimit } from './sessions/derived-sessions-limit.js';
import { SessionsRepository } from './sessions/sessions.repository.js';

/** The e-mail is canonical and the password normalized: the DTOs produce them. */
interface SignIn {
  email: string;
  password: string;
  refresh?: boolean;
  deviceName?: string;
}

interface Registration extends SignIn {
  invitationCode?: string | null;
}

@Injectable()
export class AuthService {
  constructor(
    private readonly users: UsersService,
    private readonly passwords: PasswordHasher,
    private readonly sessions: SessionsRepository,
    private readonly codes: CodesService,
    private readonly tokens: SessionTokens,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly limit: DerivedSessionsLimit,
    private readonly invitations: RegistrationInvitations,
    private readonly env: Env,
  ) {}

  /** Leaves it to the database whether the e-mail is taken: asking first would race, and tell by its timing. */
  async register(
    { email, password, refresh, deviceName, invitationCode = null }: Registration,
    client: HashClient,
    origin: SignInOrigin,
  ): Promise<SignInResult> {
    // This comes before anything is hashed, or said about the e-mail.
    const invitation =
      invitationCode === null ? undefined : await this.invitations.find(email, invitationCode, client.key);
    const hash = await this.passwords.hash(password, client);
    const turn = { principal: client.key, row: invitation?.orgId };
    const { user, session } = await this.transactions.run(async (transaction) => {
      const join = invitation && (await this.invitations.begin(transaction, invitation));
      const created = await this.users.create(transaction, email, hash);
      const opened = newSession(this.env, {
        userId: created.id,
        authEpoch: created.authEpoch,
        refresh,
        deviceName,
        origin,
      });
      await this.sessions.insert(transaction, opened);
      const actor = actorOf(opened, origin);
      await this.events.record(
        transaction,
        { type: 'account.registered', actor, userId: created.id, userRevision: created.revision },
        sessionStarted(opened, actor, 'register'),
      );
      await join?.(created.id, actor);
      return { user: created, session: opened };
    }, turn);
    return { ...this.tokens.of(session, session.createdAt), user: { id: user.id, email: user.email } };
  }

  /** Does the same work whether or not the e-mail is known. */
  async login(
    { email, password, refresh, deviceName }: SignIn,
    client: HashClient,
    origin: SignInOrigin,
  ): Promise<SignInResult> {
    const user = await this.users.findCredentials(email);
    const { matches, replacement } = await this.passwords.verify(user?.passwordHash, password, client);
    if (!user || !matches) throw new InvalidCredentialsError();
    if (user.disabledAt !== null) throw new AccountDisabledError();

    // Only a login has the plain password that rehashing needs.
    if (replacement !== undefined) await this.users.rehashPassword(user, replacement);
    // The epoch was read with the hash, so whatever ended all sessions meanwhile has ended this one too.
    const session = newSession(this.env, {
      userId: user.id,
      authEpoch: user.authEpoch,
      refresh,
      deviceName,
      origin,
    });
    const event = sessionStarted(session, actorOf(session, origin), 'login');
    try {
      await this.transactions.run(
        async (transaction) => {
          await this.sessions.insert(transaction, session);
          await this.events.record(transaction, event);
        },
        { principal: user.id },
      );
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidCredentialsError() : error;
    }
    this.limit.noteOpened(user.id);
    return { ...this.tokens.of(session, session.createdAt), user: { id: user.id, email: user.email } };
  }

  async exchangeCode(
    code: string,
    codeVerifier: string | undefined,
    origin: SignInOrigin,
  ): Promise<TokenResult> {
    const session = await this.codes.exchange(code, codeVerifier, origin);
    this.limit.noteOpened(session.userId);
    return this.tokens.of(session, session.createdAt);
  }
}

function actorOf({ id: sessionId, userId: id }: NewSession, { requestId, address }: SignInOrigin): UserActor {
  return { kind: 'user', id, sessionId, parentId: null, requestId, address };
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
