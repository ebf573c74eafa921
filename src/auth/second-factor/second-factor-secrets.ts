import { Injectable } from '@nestjs/common';
import { KeyFileWatch } from '../tokens/key-file-watch.js';
import { KeyRing } from '../tokens/key-ring.js';
import { SealedSecrets } from '../tokens/sealed-secrets.js';

/** A secret is sealed for the user whose row holds it. */
@Injectable()
export class SecondFactorSecrets extends SealedSecrets {
  constructor(
    keys: KeyRing,
    private readonly keyFile: KeyFileWatch,
  ) {
    super(keys, 'second factor secrets');
  }

  /** Looks at the key file where another instance may have read a new key first, and sealed with it. */
  async lookForKeyOf(sealed: string): Promise<void> {
    if (!this.hasKeyOf(sealed)) await this.keyFile.lookForUnknownKey();
  }
}
