import { Injectable, Logger } from '@nestjs/common';
import { SecondFactorSecrets } from './second-factor-secrets.js';
import type { ComparedFactor } from './second-factors.repository.js';
import { findStep } from './totp.js';

@Injectable()
export class AppCodes {
  private readonly logger = new Logger('SecondFactor');

  constructor(private readonly secrets: SecondFactorSecrets) {}

  /** Returns the step of the code if it can still be used; undefined also where no key opens the secret. */
  findUnused(userId: string, factor: ComparedFactor, digits: string): number | undefined {
    const secret = this.secrets.open(factor.secret, userId);
    if (!secret) {
      this.logger.error({
        msg: 'no key opens the secret of this user; restore the key that sealed it',
        userId,
      });
      return undefined;
    }
    const step = findStep(secret, digits, Date.now());
    return step !== undefined && step > factor.lastStep ? step : undefined;
  }
}
