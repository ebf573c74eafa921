import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/principal.js';
import { isForeignKeyViolation } from '../../database/transactions/database-errors.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import type { EventWithout } from '../../events/event-types.js';
import { type CheckedCode, SecondFactorVerification } from '../second-factor/second-factor-verification.js';
import type { LoginUser } from '../sessions/known-places.repository.js';
import { type Login, SessionOpening } from '../sessions/session-opening.service.js';
import type { NewSession } from '../sessions/sessions.repository.js';
import { LoginFollowUps } from './login-follow-ups.js';
import { LoginTraces } from './login-traces.js';
import type { LoginResponse } from '../sessions/sessions.responses.js';

export interface OpenedLogin {
  session: NewSession;
  actor: UserActor;
  login: Login;
  user: Pick<LoginUser, 'id' | 'email' | 'placeSeenAt'>;
}

type Cause = EventWithout<'actor'>;

/** Opens the session of a login, whatever proved who the user is. */
@Injectable()
export class LoginOpening {
  constructor(
    private readonly sessions: SessionOpening,
    private readonly followUps: LoginFollowUps,
    private readonly traces: LoginTraces,
    private readonly verification: SecondFactorVerification,
    private readonly transactions: Transactions,
  ) {}

  /** Returns undefined if the user has been deleted since `user` was read. */
  async open(login: Login, user: LoginUser, code?: CheckedCode): Promise<LoginResponse | undefined> {
    const turn = { principal: user.id, ...(code && { row: user.id }) };
    try {
      return this.answer(await this.transactions.run(turn, (tx) => this.openIn(tx, login, user, { code })));
    } catch (error) {
      if (isForeignKeyViolation(error)) return undefined;
      throw error;
    }
  }

  /**
   * Takes the epoch that was read with the proof, so that a concurrent logout everywhere ends this session too. Call
   * `answer` after COMMIT. Throws a violation of a foreign key if the user has been deleted.
   */
  async openIn(
    tx: Transaction,
    start: Login,
    user: LoginUser,
    { code, causes = [] }: { code?: CheckedCode | undefined; causes?: readonly Cause[] },
  ): Promise<OpenedLogin> {
    const login = { ...start, newDevice: this.followUps.isFromNewPlace(user) };
    const used = code && (await this.verification.use(tx, code));
    const opened = await this.sessions.open(tx, login, used ? [...causes, used] : causes);
    return { ...opened, login, user };
  }

  /** For a user whom the transaction created. Call `answer` after COMMIT. */
  async openFirstIn(
    tx: Transaction,
    login: Login,
    { id, email }: Pick<LoginUser, 'id' | 'email'>,
    causes: readonly Cause[],
  ): Promise<OpenedLogin> {
    const opened = await this.sessions.open(tx, login, causes);
    await this.followUps.keepFirstPlace(tx, id, login);
    return { ...opened, login, user: { id, email, placeSeenAt: opened.session.createdAt } };
  }

  answer({ session, login, user }: OpenedLogin): LoginResponse {
    this.traces.noteLogin(user.id);
    this.followUps.keepPlace(user, login);
    return { ...this.sessions.answer(session), user: { id: user.id, email: user.email } };
  }
}
