import { type Extras, type ImportFormat, kinds, phcOf, SECOND_FACTORS, valueAt } from './format.js';
import type { Row } from './records.js';

/** Export of password hashes by Auth0's support, export of users, or the schema of Auth0's own bulk import. */
export const AUTH0: ImportFormat = {
  isStrict: false,
  fields: {
    email: ['email', (row) => row['email'] ?? valueAt(emailIdentifier(row), 'value')],
    emailVerified: [
      'email_verified',
      (row) => row['email_verified'] ?? valueAt(emailIdentifier(row), 'verified'),
    ],
    disabled: 'blocked',
    passwordHash: ['passwordHash', hashOf],
    // Auth0 fills in the email where there is no name.
    name: ['name', ({ name, email }) => (name === email ? undefined : name)],
    avatarUrl: 'picture',
    locale: 'locale',
  },
  extrasOf,
};

function extrasOf(row: Row): Extras {
  const [factors, identities] = [row['mfa_factors'], row['identities']];
  const others = (Array.isArray(identities) ? identities : []).filter(
    (one) => (valueAt(one, 'provider') ?? 'auth0') !== 'auth0',
  );
  return {
    leftOut: [
      ...(Array.isArray(factors) ? factors : []).map(
        (factor) =>
          `${SECOND_FACTORS} (${['totp', 'phone', 'email'].find((type) => valueAt(factor, type)) ?? 'other'})`,
      ),
      ...kinds('fields of metadata', row['user_metadata']),
      ...kinds('fields of metadata', row['app_metadata']),
      ...kinds('logins with another provider', others),
      ...(typeof row['phone_number'] === 'string' ? ['phone numbers'] : []),
      ...(typeof row['username'] === 'string' ? ['usernames'] : []),
    ],
  };
}

/** Some exports have the email here only. */
function emailIdentifier({ identifiers }: Row): unknown {
  return Array.isArray(identifiers) ? identifiers.find((one) => valueAt(one, 'type') === 'email') : undefined;
}

/** argon2 and pbkdf2 are PHC strings. The text is not a hash if the algorithm is not supported. */
function hashOf(row: Row): unknown {
  const custom = row['custom_password_hash'] ?? undefined;
  const hash = row['passwordHash'] ?? row['password_hash'] ?? undefined;
  if (hash !== undefined || custom === undefined) return hash;
  if ((valueAt(custom, 'password', 'encoding') ?? 'utf8') !== 'utf8') return '';
  const algorithm = valueAt(custom, 'algorithm');
  if (algorithm === 'scrypt') return scryptOf(custom);
  const isWhole = algorithm === 'bcrypt' || algorithm === 'argon2' || algorithm === 'pbkdf2';
  return (isWhole && valueAt(custom, 'hash', 'value')) || '';
}

function scryptOf(custom: unknown): string {
  const numberAt = (name: string, byDefault: number): number => Number(valueAt(custom, name) ?? byDefault);
  const [salt, hash] = [bytesOf(valueAt(custom, 'salt')), bytesOf(valueAt(custom, 'hash'))];
  if (hash.length !== numberAt('keylen', hash.length)) return '';
  const [N, r, p] = [numberAt('cost', 16_384), numberAt('blockSize', 8), numberAt('parallelization', 1)];
  const ending = [salt, hash].map(phcOf).join('$');
  return `$scrypt$ln=${Math.log2(N)},r=${r},p=${p}$${ending}`;
}

function bytesOf(encoded: unknown): Buffer {
  const [value, encoding] = [valueAt(encoded, 'value'), valueAt(encoded, 'encoding')];
  const isBinary = encoding === 'hex' || encoding === 'base64';
  return Buffer.from(typeof value === 'string' ? value : '', isBinary ? encoding : 'utf8');
}
