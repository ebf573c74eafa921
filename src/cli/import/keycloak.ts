import { hash } from 'node:crypto';
import { type Extras, type ImportFormat, kinds, phcBase64, SECOND_FACTORS, valueAt } from './format.js';
import { bytesOfBase32 } from '../../auth/second-factor/codes.js';
import { asRow, jsonOf, type Row } from './records.js';

/** Export of a realm with its users (`kc.sh export`). */
export const KEYCLOAK: ImportFormat = {
  isStrict: false,
  fields: {
    id: 'id',
    email: 'email',
    emailVerified: 'emailVerified',
    disabled: ['enabled', ({ enabled = true }) => (typeof enabled === 'boolean' ? !enabled : enabled)],
    passwordHash: ['credentials', hashOf],
    name: ['firstName', ({ firstName = '', lastName = '' }) => `${text(firstName)} ${text(lastName)}`.trim()],
    avatarUrl: ['attributes.picture', (row) => valueAt(row, 'attributes', 'picture', 0)],
    locale: ['attributes.locale', (row) => valueAt(row, 'attributes', 'locale', 0)],
  },
  // An account of a client is not a person.
  isSkipped: (row) => typeof row['serviceAccountClientId'] === 'string',
  extrasOf,
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The text is not a hash if the algorithm is not supported. */
function hashOf({ credentials }: Row): string | undefined {
  const password = listOf(credentials).find((one) => valueAt(one, 'type') === 'password');
  if (password === undefined) return undefined;
  const secret = jsonOf(text(valueAt(password, 'secretData')));
  const data = jsonOf(text(valueAt(password, 'credentialData')));
  const ending = `${phcBase64(valueAt(secret, 'salt'))}$${phcBase64(valueAt(secret, 'value'))}`;
  const iterations = Number(valueAt(data, 'hashIterations'));
  const algorithm = text(valueAt(data, 'algorithm'));
  if (algorithm !== 'argon2') return `$${algorithm}$i=${iterations}$${ending}`;
  const parameter = (name: string): string => text(valueAt(data, 'additionalParameters', name, 0));
  const version = parameter('version') === '1.0' ? 16 : 19;
  const cost = `m=${parameter('memory')},t=${iterations},p=${parameter('parallelism')}`;
  return `$argon2${parameter('type')}$v=${version}$${cost}$${ending}`;
}

const OTHER_CREDENTIALS = new Map<unknown, string>([
  ['webauthn', `${SECOND_FACTORS} (security key)`],
  ['webauthn-passwordless', 'passkeys'],
  ['recovery-authn-codes', 'sets of recovery codes'],
]);

/** A user of Accounts has one authenticator app: of several, Keycloak has the preferred one first. */
function extrasOf(row: Row): Extras {
  const credentials = listOf(row['credentials']);
  const factors = credentials.filter((one) => valueAt(one, 'type') === 'otp').map(totpOf);
  const totpSecret = factors.find((one) => typeof one !== 'string');
  const others = factors.filter((one) => one !== totpSecret);
  const roles = listOf(row['realmRoles']).filter((role) => !text(role).startsWith('default-roles-'));
  const { picture: _picture, locale: _locale, ...attributes } = asRow(row['attributes']) ?? {};
  const username = text(row['username']).toLowerCase();
  return {
    totpSecret,
    leftOut: [
      ...others.map((why) => `${SECOND_FACTORS} (${typeof why === 'string' ? why : 'another app'})`),
      ...credentials.flatMap((one) => OTHER_CREDENTIALS.get(valueAt(one, 'type')) ?? []),
      ...kinds('memberships of groups', row['groups']),
      ...kinds('roles', roles),
      ...Object.values(asRow(row['clientRoles']) ?? {}).flatMap((ofClient) => kinds('roles', ofClient)),
      ...kinds('logins with another provider', row['federatedIdentities']),
      ...kinds('attributes', attributes),
      // People log in to Accounts with their email only.
      ...(username === '' || username === text(row['email']).toLowerCase() ? [] : ['usernames']),
    ],
  };
}

const SHA1_BLOCK_BYTES = 64;
const MIN_SECRET_BYTES = 10;

/** Returns the secret, or why Accounts cannot verify its codes. */
function totpOf(credential: unknown): Buffer | string {
  const data = jsonOf(text(valueAt(credential, 'credentialData')));
  const [subType, algorithm] = [valueAt(data, 'subType'), text(valueAt(data, 'algorithm') ?? 'HmacSHA1')];
  const [digits, period] = [Number(valueAt(data, 'digits')), Number(valueAt(data, 'period'))];
  if (subType !== 'totp') return subType === 'hotp' ? 'HOTP' : 'damaged';
  if (algorithm !== 'HmacSHA1')
    return /^HmacSHA\d{1,4}$/.test(algorithm) ? algorithm.replace('HmacSHA', 'SHA-') : 'damaged';
  if (digits !== 6) return digits === 8 ? '8 digits' : 'damaged';
  if (period !== 30) return period > 0 ? `${period} s` : 'damaged';
  const value = text(valueAt(jsonOf(text(valueAt(credential, 'secretData'))), 'value'));
  const encoding = valueAt(data, 'secretEncoding') ?? undefined;
  // Keycloak ignores the case.
  if (encoding !== undefined && text(encoding).toUpperCase() !== 'BASE32') return 'damaged';
  const bytes = encoding === undefined ? Buffer.from(value) : bytesOfBase32(value);
  if (bytes === undefined) return 'damaged';
  if (bytes.length < MIN_SECRET_BYTES) return `shorter than ${MIN_SECRET_BYTES} bytes`;
  // The hash gives the same codes (RFC 2104 section 2).
  return bytes.length > SHA1_BLOCK_BYTES ? hash('sha1', bytes, 'buffer') : bytes;
}
