import { BASE64 } from '../../auth/passwords/foreign-hashes.js';
import { CannotRunError } from '../command/definition.js';
import {
  type Extras,
  type ImportFormat,
  kinds,
  phcBase64,
  phcOf,
  SECOND_FACTORS,
  valueAt,
} from './format.js';
import { jsonOf, type Row } from './records.js';

/** Written by `firebase auth:export users.json --format=json`. */
export const FIREBASE: ImportFormat = {
  isStrict: false,
  fields: {
    email: 'email',
    emailVerified: 'emailVerified',
    disabled: 'disabled',
    name: 'displayName',
    avatarUrl: 'photoUrl',
  },
  extrasOf,
  withHashConfig: (text) => {
    const config = readHashConfig(text);
    const fields: ImportFormat['fields'] = { passwordHash: ['passwordHash', (row) => hashOf(row, config)] };
    return { ...FIREBASE, fields: { ...FIREBASE.fields, ...fields } };
  },
};

function extrasOf({ mfaInfo, providerUserInfo, customAttributes, phoneNumber }: Row): Extras {
  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const others = listOf(providerUserInfo).filter((one) => valueAt(one, 'providerId') !== 'password');
  return {
    leftOut: [
      ...listOf(mfaInfo).map((one) => `${SECOND_FACTORS} (${valueAt(one, 'totpInfo') ? 'totp' : 'phone'})`),
      ...kinds('logins with another provider', others),
      ...kinds('custom claims', typeof customAttributes === 'string' ? jsonOf(customAttributes) : undefined),
      ...(typeof phoneNumber === 'string' ? ['phone numbers'] : []),
    ],
  };
}

type HashConfig = ReturnType<typeof readHashConfig>;

/** The keystream is enough to verify a password, so the signer key is not kept. */
function hashOf({ passwordHash, salt }: Row, config: HashConfig): string | undefined {
  const { signerKey, saltSeparator, cost } = config;
  if (passwordHash === undefined || passwordHash === '') return undefined;
  const encrypted = bytesOf(passwordHash);
  const begin = bytesOf(salt ?? '');
  if (encrypted?.length !== signerKey.length || begin === undefined) return '';
  const keystream = Buffer.from(encrypted.map((byte, index) => byte ^ signerKey[index]!));
  return `$firebase-scrypt$${cost}$${phcOf(Buffer.concat([begin, saltSeparator]))}$${phcOf(keystream)}`;
}

function bytesOf(text: unknown): Buffer | undefined {
  const base64 = typeof text === 'string' ? phcBase64(text) : '*';
  return BASE64.test(base64) ? Buffer.from(base64, 'base64') : undefined;
}

// The ranges that `firebase auth:import` takes. An error quotes no value.
function readHashConfig(text: string) {
  const valueOf = (name: string): string | undefined =>
    new RegExp(String.raw`\b${name}\s*:\s*"?([^\s,"}]*)`).exec(text)?.[1];
  const require = (name: string, isRight: boolean, expected: string): void => {
    if (!isRight) throw new CannotRunError(`--hash-config: ${name} must be ${expected}`);
  };
  const numberOf = (name: string, max: number): number => {
    const value = Number(valueOf(name));
    require(name, Number.isInteger(value) && value >= 1 && value <= max, `a whole number from 1 to ${max}`);
    return value;
  };
  const bytesAt = (name: string, min: number, max: number): Buffer => {
    const bytes = bytesOf(valueOf(name)) ?? Buffer.alloc(max + 1);
    require(name, bytes.length >= min && bytes.length <= max, `base64 of ${min} to ${max} bytes`);
    return bytes;
  };
  require('algorithm', valueOf('algorithm') === 'SCRYPT', 'SCRYPT');
  return {
    signerKey: bytesAt('base64_signer_key', 32, 64),
    saltSeparator: bytesAt('base64_salt_separator', 0, 16),
    cost: `ln=${numberOf('mem_cost', 14)},r=${numberOf('rounds', 8)},p=1`,
  };
}
