import { Injectable } from '@nestjs/common';
import { KeyRing } from '../tokens/key-ring.js';
import { SealedSecrets } from '../tokens/sealed-secrets.js';

/** A secret is sealed for the user whose row holds it. */
@Injectable()
export class SecondFactorSecrets extends SealedSecrets {
  constructor(keys: KeyRing) {
    super(keys, 'second factor secrets');
  }
}
