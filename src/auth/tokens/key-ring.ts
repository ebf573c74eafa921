import type { KeyObject } from 'node:crypto';
import type { KeySet } from './jwks.response.js';
import { publicJwk, type SigningKey, type SigningKeys } from './signing-keys.js';

export class KeyRing {
  readonly signing: SigningKey;
  readonly published: KeySet;
  private readonly verifying: Map<string, KeyObject>;

  constructor(keys: SigningKeys) {
    this.signing = keys[0];
    this.published = { keys: keys.map(publicJwk) };
    this.verifying = new Map(keys.map((key) => [key.kid, key.publicKey]));
  }

  findVerifying(kid: string): KeyObject | undefined {
    return this.verifying.get(kid);
  }
}
