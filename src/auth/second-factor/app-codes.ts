import { Injectable, Logger } from '@nestjs/common';
import { KeyFileWatch } from '../tokens/key-file-watch.js';
import { SecondFactorSecrets } from './second-factor-secrets.js';
import type { ComparedFactor, UsedStep } from './second-factors.repository.js';
import { findStep } from './totp.js';

@Injectable()
export class AppCodes {
  private readonly logger = new Logger('SecondFactor');

  constructor(
    private readonly secrets: SecondFactorSecrets,
    private readonly keyFile: KeyFileWatch,
  ) {}

  hasKey(factor: ComparedFactor | undefined): boolean {
    return factor !== undefined && this.secrets.hasKeyOf(factor.secret);
  }

  /** Another instance may have sealed with a key that it has read first. Call it outside transactions: it looks at a file. */
  async lookForKey(factor: ComparedFactor | undefined): Promise<void> {
    if (factor && !this.hasKey(factor)) await this.keyFile.lookForUnknownKey();
  }

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

  compare(userId: string, factor: ComparedFactor | undefined, digits: string): UsedStep | undefined {
    const step = factor && this.findUnused(userId, factor, digits);
    const { enabledAt = null } = factor ?? {};
    return step === undefined || enabledAt === null ? undefined : { userId, step, enabledAt };
  }
}
