import type { KeyObject } from 'node:crypto';
import type { KeySetResponse } from './jwks.response.js';
import { type KeySet, publicJwk, type SigningKey } from './signing-keys.js';

/** The keys of this process: the first signs, all verify. */
export class KeyRing {
  readonly signing: SigningKey;
  readonly published: KeySetResponse;
  private readonly verifying: Map<string, KeyObject>;

  constructor(keys: KeySet) {
    this.signing = keys[0];
    this.published = { keys: keys.map(publicJwk) };
    this.verifying = new Map(keys.map((key) => [key.kid, key.publicKey]));
  }

  findVerifying(kid: string): KeyObject | undefined {
    return this.verifying.get(kid);
  }
}
