import { Injectable } from '@nestjs/common';
import type { SignInOrigin } from '../access/principal.js';
import { isForeignKeyViolation } from '../database/transactions/database-errors.js';
import { Transactions } from '../database/transactions/transactions.js';
import { UsersRepository } from '../users/users.repository.js';
import type { SecondStepRequest } from './auth.requests.js';
import type { SignInResult } from './auth.responses.js';
import { isChallengeOf, LoginChallenges } from './second-factor/login-challenges.js';
import { type CheckedCode, SecondFactorVerification } from './second-factor/second-factor-verification.js';
import { InvalidChallengeError } from './second-factor/second-factor.errors.js';
import { PASSWORD_AND_CODE } from './sessions/alive.js';
import type { NewSession } from './sessions/sessions.repository.js';
import { type Login, SessionOpening } from './sessions/session-opening.service.js';

@Injectable()
export class SecondStepService {
  constructor(
    private readonly users: UsersRepository,
    private readonly challenges: LoginChallenges,
    private readonly verification: SecondFactorVerification,
    private readonly sessions: SessionOpening,
    private readonly transactions: Transactions,
  ) {}

  /** Counts no wrong code for a void challenge. @throws InvalidChallengeError, InvalidSecondFactorCodeError, RateLimitedError */
  async logIn(
    { challenge: text, code: typed, refresh, deviceName }: SecondStepRequest,
    origin: SignInOrigin,
  ): Promise<SignInResult> {
    const challenge = await this.challenges.read(text);
    if (!challenge) throw new InvalidChallengeError('forged_or_expired');
    const user = await this.users.findCredentialsById(challenge.userId);
    if (!user || !isChallengeOf(challenge, user))
      throw new InvalidChallengeError('account_changed', challenge.userId);
    const code = await this.verification.check(user, 'login', typed);
    const login: Login = { user, via: 'login', amr: PASSWORD_AND_CODE, refresh, deviceName, origin };
    const session = await this.open(login, code);
    return { ...this.sessions.answer(session), user: { id: user.id, email: user.email } };
  }

  /** The session has the epoch of the challenge. If the challenge has become void since the check, the session is dead. */
  private async open(login: Login, code: CheckedCode): Promise<NewSession> {
    const { id } = login.user;
    try {
      return await this.transactions.run(
        async (transaction) => {
          const used = await this.verification.use(transaction, code);
          return (await this.sessions.open(transaction, login, used)).session;
        },
        { principal: id, row: id },
      );
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidChallengeError('account_changed', id) : error;
    }
  }
}
