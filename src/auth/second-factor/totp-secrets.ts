import { Injectable, Logger } from '@nestjs/common';
import { KeyFileWatch } from '../tokens/key-file-watch.js';
import { KeyRing } from '../tokens/key-ring.js';
import { SealedSecrets } from '../tokens/sealed-secrets.js';
import type { StoredSecret } from './second-factors.repository.js';
import { findStep } from './totp.js';

/** Encrypts each TOTP secret for the user in whose row it is stored. */
@Injectable()
export class TotpSecrets {
  private readonly logger = new Logger('SecondFactor');
  private readonly secrets: SealedSecrets;

  constructor(
    keys: KeyRing,
    private readonly keyFile: KeyFileWatch,
  ) {
    this.secrets = new SealedSecrets(keys, 'second factor secrets');
  }

  encrypt(secret: Buffer, userId: string): string {
    return this.secrets.seal(secret, userId);
  }

  /** Another instance may have read a new key first. Call it outside transactions, because it reads a file. */
  async loadKeyOf({ secret }: StoredSecret): Promise<void> {
    if (!this.secrets.hasKeyOf(secret)) await this.keyFile.lookForUnknownKey();
  }

  /** Returns the step of a code that can still be used; undefined also if no key decrypts the secret. */
  findUnusedStep(
    userId: string,
    { secret: encrypted, lastStep }: StoredSecret,
    digits: string,
  ): number | undefined {
    const secret = this.secrets.open(encrypted, userId);
    if (!secret) {
      this.logger.error({
        msg: 'no key opens the secret of this user; restore the key that sealed it',
        userId,
      });
      return undefined;
    }
    const step = findStep(secret, digits, Date.now());
    return step !== undefined && step > lastStep ? step : undefined;
  }
}
