import { Injectable } from '@nestjs/common';
import type { SignInOrigin } from '../../access/actor.js';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { EventsRepository } from '../../record/events.repository.js';
import { type Credentials, UsersRepository } from '../../users/users.repository.js';
import type { SignInResult } from '../dto/auth.responses.js';
import { PASSWORD_AND_CODE } from '../sessions/authentication-methods.js';
import type { NewSession } from '../sessions/new-session.js';
import { type Login, SessionOpening } from '../sessions/session-opening.service.js';
import { InvalidChallengeError } from './challenge.errors.js';
import { type LoginChallenge, LoginChallenges } from './login-challenges.js';
import { SecondFactorVerification, type ShownCode } from './second-factor-verification.js';

interface SecondStep {
  challenge: string;
  code: string;
  refresh?: boolean;
  deviceName?: string;
}

/** Completes a login whose password was right. */
@Injectable()
export class SecondStepService {
  constructor(
    private readonly challenges: LoginChallenges,
    private readonly users: UsersRepository,
    private readonly verification: SecondFactorVerification,
    private readonly sessions: SessionOpening,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  /** Counts no attempt for a challenge that is void. @throws InvalidChallengeError, InvalidSecondFactorCodeError */
  async logIn(
    { challenge, code, refresh, deviceName }: SecondStep,
    origin: SignInOrigin,
  ): Promise<SignInResult> {
    const read = await this.challenges.read(challenge);
    if (!read) throw new InvalidChallengeError('forged_or_expired');
    const user = await this.users.findCredentialsById(read.userId);
    if (!user || !isOf(read, user)) throw new InvalidChallengeError('account_changed');

    const shown = await this.verification.show(user, code, 'login');
    const login: Login = {
      user: { id: read.userId, authEpoch: read.authEpoch },
      via: 'login',
      amr: PASSWORD_AND_CODE,
      refresh,
      deviceName,
      origin,
    };
    const session = await this.open(login, read, shown);
    return { ...this.sessions.answer(session), user: { id: user.id, email: user.email } };
  }

  private async open(login: Login, read: LoginChallenge, shown: ShownCode): Promise<NewSession> {
    try {
      return await this.transactions.run((transaction) => this.openIn(transaction, login, read, shown), {
        principal: read.userId,
      });
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidChallengeError('account_changed') : error;
    }
  }

  /** Compares the challenge with the row again: a session of an epoch that has ended meanwhile is dead anyway. */
  private async openIn(
    transaction: Transaction,
    login: Login,
    read: LoginChallenge,
    shown: ShownCode,
  ): Promise<NewSession> {
    const { userId, authEpoch, enabledAt } = read;
    if (!(await this.users.isUnchanged(transaction, userId, { authEpoch, secondFactorAt: enabledAt }))) {
      throw new InvalidChallengeError('account_changed');
    }
    const used = await this.verification.use(transaction, shown);
    const { session, actor } = await this.sessions.open(transaction, login);
    for (const event of used) await this.events.record(transaction, { ...event, actor });
    return session;
  }
}

function isOf({ authEpoch, enabledAt }: LoginChallenge, user: Credentials): boolean {
  return user.authEpoch === authEpoch && user.secondFactorAt === enabledAt && user.disabledAt === null;
}
