import { Injectable } from '@nestjs/common';
import type { SignInOrigin } from '../../access/actor.js';
import type { SignInResult } from '../auth.responses.js';
import { PASSWORD_AND_CODE } from '../sessions/authentication-methods.js';
import { type Login, SessionOpening } from '../sessions/session-opening.service.js';
import { AppCodeLogins } from './app-code-logins.js';
import { InvalidChallengeError } from './challenge.errors.js';
import { readTypedCode } from './code-text.js';
import { GuessLimit } from './guess-limit.js';
import { LoginChallenges } from './login-challenges.js';
import { RecoveryCodeLogins } from './recovery-code-logins.js';

interface SecondStep {
  challenge: string;
  code: string;
  refresh?: boolean;
  deviceName?: string;
}

@Injectable()
export class SecondStepService {
  constructor(
    private readonly challenges: LoginChallenges,
    private readonly appCodes: AppCodeLogins,
    private readonly recoveryCodes: RecoveryCodeLogins,
    private readonly limit: GuessLimit,
    private readonly sessions: SessionOpening,
  ) {}

  /** Counts no attempt for a void challenge. @throws InvalidChallengeError, InvalidSecondFactorCodeError, RateLimitedError */
  async logIn(
    { challenge: text, code: typed, refresh, deviceName }: SecondStep,
    origin: SignInOrigin,
  ): Promise<SignInResult> {
    const challenge = await this.challenges.read(text);
    if (!challenge) throw new InvalidChallengeError('forged_or_expired');
    const login: Omit<Login, 'user'> = { via: 'login', amr: PASSWORD_AND_CODE, refresh, deviceName, origin };
    const code = readTypedCode(typed);
    const { user, opened } =
      code?.kind === 'app'
        ? await this.appCodes.logIn({ challenge, login, digits: code.digits })
        : await this.recoveryCodes.logIn({ challenge, login, hash: code?.hash });
    if (typeof opened === 'string') return this.limit.refuseLogin(user, opened);
    return { ...this.sessions.answer(opened), user: { id: user.id, email: user.email } };
  }
}
