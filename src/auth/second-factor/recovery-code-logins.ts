import { Injectable } from '@nestjs/common';
import { type Login, SessionOpening } from '../sessions/session-opening.service.js';
import { ChallengedLogins } from './challenged-logins.js';
import type { LoginChallenge } from './login-challenges.js';
import { InvalidSecondFactorCodeError } from './second-factor.errors.js';
import { SecondFactorVerification } from './second-factor-verification.js';
import type { SecondStepOutcome } from './second-step-outcome.js';

interface RecoveryCodeLogin {
  challenge: LoginChallenge;
  login: Omit<Login, 'user'>;
  /** of the code; undefined where what was typed can be none */
  hash: string | undefined;
}

/** Nobody can guess a recovery code, so none is counted, and none refused for the guesses of others. */
@Injectable()
export class RecoveryCodeLogins {
  constructor(
    private readonly challenged: ChallengedLogins,
    private readonly verification: SecondFactorVerification,
    private readonly sessions: SessionOpening,
  ) {}

  logIn({ challenge, login, hash }: RecoveryCodeLogin): Promise<SecondStepOutcome> {
    return this.challenged.run(challenge, async (transaction, user) => {
      if (hash === undefined) throw new InvalidSecondFactorCodeError(user.id);
      const shown = { kind: 'recovery', hash, holder: user, scope: 'login' } as const;
      const [used] = await this.verification.use(transaction, shown);
      const { session } = await this.sessions.open(transaction, { ...login, user }, used);
      return { user, opened: session };
    });
  }
}
