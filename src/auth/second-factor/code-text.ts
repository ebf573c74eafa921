import { hash, randomBytes } from 'node:crypto';
import { CROCKFORD_ALPHABET, typedText } from '../mail-codes/typed-text.js';
import { base32 } from './base32.js';

const RECOVERY_CODE_BYTES = 16;
const RECOVERY_CODE_LENGTH = 26;
const RECOVERY_CODES = 10;
const RECOVERY_CODE = new RegExp(`^[${CROCKFORD_ALPHABET}]{${RECOVERY_CODE_LENGTH}}$`);
const APP_CODE = /^\d{6}$/;
/** The last group has the one character that is over. */
const GROUPS = /.{5}(?=.{5})|.+/g;

export type TypedCode = { kind: 'app'; digits: string } | { kind: 'recovery'; hash: string };

/** Returns undefined for text that can be neither, such as too long a one. */
export function readTypedCode(text: string): TypedCode | undefined {
  const code = typedText(text);
  if (code === undefined) return undefined;
  if (APP_CODE.test(code)) return { kind: 'app', digits: code };
  return RECOVERY_CODE.test(code) ? { kind: 'recovery', hash: hashOf(code) } : undefined;
}

export interface NewRecoveryCodes {
  texts: string[];
  hashes: string[];
}

export function newRecoveryCodes(): NewRecoveryCodes {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    base32(randomBytes(RECOVERY_CODE_BYTES), CROCKFORD_ALPHABET),
  );
  return { texts: codes.map((code) => code.match(GROUPS)!.join('-')), hashes: codes.map(hashOf) };
}

/** One pass is enough for 128 random bits. */
function hashOf(code: string): string {
  return hash('sha256', code, 'base64url');
}
