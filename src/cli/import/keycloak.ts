import { type ImportFormat, phcBase64, valueAt } from './format.js';
import { jsonOf, type Row } from './records.js';

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
  // An account of a client is no person.
  isSkipped: (row) => typeof row['serviceAccountClientId'] === 'string',
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The text is no hash if the algorithm is not supported. */
function hashOf({ credentials }: Row): string | undefined {
  const all: unknown[] = Array.isArray(credentials) ? credentials : [];
  const password = all.find((one) => valueAt(one, 'type') === 'password');
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
