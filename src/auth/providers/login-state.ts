import { Injectable } from '@nestjs/common';
import { EncryptedSecrets } from '../tokens/derived-keys.js';
import { KeyFileWatch } from '../tokens/key-file-watch.js';
import { KeyRing } from '../tokens/signing-keys.js';

export const LOGIN_TTL_MS = 600_000;
const FORMAT = /^[\w-]{43}\.[\w-]{16}\.[\w-]{22,2000}$/;

/** A login between its start and the callback. */
export interface LoginState {
  /** of Accounts toward the provider; the program has a verifier of its own */
  codeVerifier: string;
  nonce: string;
  /** of the program */
  codeChallenge: string;
  /** what the program compares */
  programState: string;
  /** undefined if the browser shows the code */
  redirectUri?: string;
  /** seconds */
  maxAge?: number;
  address: string;
  /** name of the program, as in known places */
  program: string;
  startedAt: number;
}

/** The `state` that the provider returns, encrypted with the keys of the key file: an anonymous request writes no row. */
@Injectable()
export class LoginStates {
  private readonly secrets: EncryptedSecrets;

  constructor(
    keys: KeyRing,
    private readonly keyFile: KeyFileWatch,
  ) {
    this.secrets = new EncryptedSecrets(keys, 'provider logins');
  }

  /** The state of one provider does not open at the callback of another. */
  write(providerId: string, state: LoginState): string {
    return this.secrets.encrypt(Buffer.from(JSON.stringify(state)), providerId);
  }

  /** Returns undefined for a state that is forged, of another provider, or too old. */
  async read(providerId: string, text: string): Promise<LoginState | undefined> {
    if (!FORMAT.test(text)) return undefined;
    // Another instance may have read a new key first.
    if (!this.secrets.hasKeyOf(text)) await this.keyFile.reloadForUnknownKey();
    const bytes = this.secrets.decrypt(text, providerId);
    const state = bytes && (JSON.parse(bytes.toString()) as LoginState);
    return state && Date.now() < state.startedAt + LOGIN_TTL_MS ? state : undefined;
  }
}
