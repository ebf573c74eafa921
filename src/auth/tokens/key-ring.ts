import type { KeySet } from './tokens.responses.js';
import { publicJwk, type SigningKey, signingKeyAt, type SigningKeys } from './signing-keys.js';

export class KeyRing {
  private keys: SigningKeys;
  private publicKeys: KeySet;
  private verifying: Map<string, string>;

  constructor(keys: SigningKeys) {
    this.replace(keys);
  }

  get signing(): SigningKey {
    return signingKeyAt(this.keys, Date.now());
  }

  get all(): SigningKeys {
    return this.keys;
  }

  get published(): KeySet {
    return this.publicKeys;
  }

  findVerifying(kid: string): string | undefined {
    return this.verifying.get(kid);
  }

  replace(keys: SigningKeys): void {
    this.keys = keys;
    this.publicKeys = { keys: keys.map(publicJwk) };
    this.verifying = new Map(
      keys.map(({ kid, publicKey }) => [kid, publicKey.export({ type: 'spki', format: 'pem' }).toString()]),
    );
  }
}
