import { Injectable } from '@nestjs/common';
import type { SignInOrigin } from '../../access/actor.js';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { EventsRepository } from '../../record/events.repository.js';
import type { SignInResult } from '../dto/auth.responses.js';
import { PASSWORD_AND_CODE } from '../sessions/authentication-methods.js';
import type { NewSession } from '../sessions/new-session.js';
import { type Login, SessionOpening } from '../sessions/session-opening.service.js';
import { InvalidChallengeError } from './challenge.errors.js';
import { type LoginChallenge, LoginChallenges } from './login-challenges.js';
import { type Refused, SecondFactorVerification } from './second-factor-verification.js';
import { type FactorOfUser, SecondFactorsRepository } from './second-factors.repository.js';

interface SecondStep {
  challenge: string;
  code: string;
  refresh?: boolean;
  deviceName?: string;
}

interface Outcome {
  user: FactorOfUser;
  opened: NewSession | Refused;
}

@Injectable()
export class SecondStepService {
  constructor(
    private readonly challenges: LoginChallenges,
    private readonly factors: SecondFactorsRepository,
    private readonly verification: SecondFactorVerification,
    private readonly sessions: SessionOpening,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  /** Counts no attempt for a void challenge. @throws InvalidChallengeError, InvalidSecondFactorCodeError, RateLimitedError */
  async logIn(
    { challenge, code, refresh, deviceName }: SecondStep,
    origin: SignInOrigin,
  ): Promise<SignInResult> {
    const read = await this.challenges.read(challenge);
    if (!read) throw new InvalidChallengeError('forged_or_expired');
    const login: Omit<Login, 'user'> = { via: 'login', amr: PASSWORD_AND_CODE, refresh, deviceName, origin };
    const { user, opened } = await this.open(read, code, login);
    if (typeof opened === 'string') return this.verification.refuse(user, opened);
    return { ...this.sessions.answer(opened), user: { id: user.id, email: user.email } };
  }

  private async open(read: LoginChallenge, code: string, login: Omit<Login, 'user'>): Promise<Outcome> {
    try {
      return await this.transactions.run((transaction) => this.openIn(transaction, read, code, login), {
        principal: read.userId,
        row: read.userId,
      });
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidChallengeError('account_changed') : error;
    }
  }

  /** The session has the epoch of the challenge: where that ends meanwhile, it is dead. */
  private async openIn(
    transaction: Transaction,
    read: LoginChallenge,
    code: string,
    login: Omit<Login, 'user'>,
  ): Promise<Outcome> {
    const user = await this.factors.findWithUser(transaction, read.userId);
    if (!user || !isOf(read, user)) throw new InvalidChallengeError('account_changed');
    const attempt = await this.verification.attempt(transaction, user, code);
    if (attempt.result !== 'right') return { user, opened: attempt.result };
    const { session, actor } = await this.sessions.open(transaction, { ...login, user });
    for (const event of attempt.events) await this.events.record(transaction, { ...event, actor });
    return { user, opened: session };
  }
}

function isOf(
  { authEpoch, enabledAt }: LoginChallenge,
  user: Pick<FactorOfUser, 'authEpoch' | 'secondFactorAt' | 'disabledAt'>,
): boolean {
  return user.authEpoch === authEpoch && user.secondFactorAt === enabledAt && user.disabledAt === null;
}
