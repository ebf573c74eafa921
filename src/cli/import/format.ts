import { foreignHashFault } from '../../auth/passwords/hash-engines.js';
import { IMPORTED } from '../../auth/passwords/foreign-hashes.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { ROLES } from '../../access/principal.js';
import { normalizedEmail } from '../../users/email-address.js';
import { PROFILE, PROFILE_FIELDS, type ProfileFieldName, profileOf } from '../../users/profile.js';
import type { ForeignUser } from '../../accounts/user-import.service.js';
import { MAX_LINE_BYTES, type Row } from './records.js';

const { bcryptCost, pbkdf2Rounds, scryptMib, scryptLanes } = IMPORTED;
const HASH_MAXIMA = `256 MiB, 1 GiB in all passes, or 16 lanes (argon2id), a cost of ${bcryptCost} (bcrypt), ${pbkdf2Rounds[256]} rounds of all blocks with SHA-256 or ${pbkdf2Rounds[512]} with SHA-512 (PBKDF2), or ${scryptMib} MiB or ${scryptLanes} lanes (scrypt)`;

/** Most follow the name of a field. Must not quote the row, which contains a hash. */
const REFUSALS = {
  line_too_long: `longer than ${MAX_LINE_BYTES} bytes`,
  invalid_json: 'not a JSON object in UTF-8',
  invalid_csv: 'not CSV in UTF-8 with the columns of the first line, where quotes end on the line',
  unknown_field: 'is no field of this format',
  invalid_email: 'is not an email address',
  invalid_hash: 'is neither argon2id (PHC), bcrypt, PBKDF2 (SHA-256, SHA-512) nor scrypt',
  hash_too_costly: `would take more than ${HASH_MAXIMA}`,
  invalid_email_verified: 'is neither true nor false',
  invalid_disabled: 'is neither true nor false',
  invalid_id: 'is not a UUID',
  invalid_name: PROFILE.name.expected,
  invalid_avatar_url: PROFILE.avatarUrl.expected,
  invalid_locale: PROFILE.locale.expected,
  email_taken: 'another user has this email',
  id_taken: 'another user has this id',
  id_deleted: 'the user with this id was deleted',
  invalid_org: 'must be 1 to 100 characters on one line',
  invalid_role: `is none of ${ROLES.join(', ')}`,
  invalid_org_id: 'is neither a number nor text of 1 to 200 characters on one line',
  id_of_another_org: 'belongs to an organization of another name',
  id_needed: 'several organizations have this name: give each line an id',
  second_role: 'has another role in this organization on an earlier line',
  user_not_found: 'there is no user with this email',
  user_disabled: 'the user is disabled, and no owner can be',
  user_has_too_many_orgs: 'the user belongs to MAX_ORGS_PER_USER organizations, or was deleted',
  no_owner: 'no line names an owner who is an enabled user, so the organization was not created',
  org_deleted: 'the organization was deleted: accounts orgs restore brings it back',
  org_purged: 'the organization was deleted for good: give its lines another id',
} as const;

export class Refused {
  constructor(
    readonly code: keyof typeof REFUSALS,
    readonly field?: string,
  ) {}

  get reason(): string {
    return [this.field, REFUSALS[this.code]].filter(Boolean).join(' ');
  }
}

/** The hash is undefined if the user has no password. */
export type ImportRow = Omit<ForeignUser, 'passwordHash'> & { passwordHash: string | undefined };

type Column = 'email' | 'passwordHash' | 'emailVerified' | 'disabled' | 'id' | ProfileFieldName;

/** The name in the file, and how to read the value if it does not simply stand there. */
type SourceField = string | [name: string, read: (row: Row) => unknown];

export interface ImportFormat {
  fields: Partial<Record<Column, SourceField>>;
  // Ours: refuses unknown fields and invalid profiles, and a hash of null means no password. Exports of other systems
  // have dozens of fields, and no hash means no password. They may be documents.
  isStrict: boolean;
  /** Makes a function that gets each line, beginning with the first. By default, a line is a JSON object. */
  readerOfLines?: () => (line: Buffer) => Row | Refused | undefined;
  /** Returns the format with the parameters of its hashes. @throws CannotRunError */
  withHashConfig?: (text: string) => ImportFormat;
  isSkipped?: (row: Row) => boolean;
  extrasOf?: (row: Row) => Extras;
}

/** What a row of another system contains in addition to its user. `leftOut` has the kind of each thing that is not imported. */
export interface Extras {
  totpSecret?: Buffer | undefined;
  leftOut: string[];
}

export const SECOND_FACTORS = 'second factors';

/** Counts what a list or an object has, of one kind. */
export function kinds(kind: string, of: unknown): string[] {
  return Array<string>(typeof of === 'object' && of !== null ? Object.keys(of).length : 0).fill(kind);
}

/** Anything else could be a password, if the file is not what the operator thinks. */
const HARMLESS_NAME = /^[A-Za-z][\w -]{0,29}$/;

export function unknownField(name: string): Refused {
  return new Refused('unknown_field', HARMLESS_NAME.test(name) ? name : 'one name');
}

function valueIn(row: Row, { fields, isStrict }: ImportFormat, column: Column): unknown {
  const field = fields[column];
  const value = typeof field === 'string' ? row[field] : field?.[1](row);
  return value === null && !isStrict ? undefined : value;
}

const SHOWN_USERNAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}@._+-]{0,99}$/u;
/** No hash and hardly a password, if the columns are not what the operator thinks. */
const SHOWN_NAME = /^\p{L}[\p{L}\p{M} .'-]{0,99}$/u;

export function namesOf(row: Row, format: ImportFormat): { email?: string; name?: string } {
  const email = normalizedEmail(valueIn(row, format, 'email'));
  if (email !== undefined) return { email };
  const [username, name] = [row['username'], valueIn(row, format, 'name')];
  if (!format.isStrict && typeof username === 'string' && SHOWN_USERNAME.test(username))
    return { name: username };
  return typeof name === 'string' && SHOWN_NAME.test(name) ? { name } : {};
}

export function userOf(row: Row, format: ImportFormat): ImportRow | Refused {
  const { fields, isStrict } = format;
  const valueOf = (column: Column): unknown => valueIn(row, format, column);
  const refused = (code: Refused['code'], column: Column): Refused =>
    new Refused(code, [fields[column]].flat()[0] as string);

  const names = Object.values(fields);
  const unknown = isStrict ? Object.keys(row).find((name) => !names.includes(name)) : undefined;
  if (unknown !== undefined) return unknownField(unknown);
  const email = normalizedEmail(valueOf('email'));
  if (email === undefined) return refused('invalid_email', 'email');
  const hash = valueOf('passwordHash');
  const hasNone = hash === (isStrict ? null : undefined);
  const fault = hasNone ? undefined : foreignHashFault(hash);
  if (fault !== undefined) return refused(fault, 'passwordHash');
  const [isEmailVerified = false, isDisabled = false] = [valueOf('emailVerified'), valueOf('disabled')];
  if (typeof isEmailVerified !== 'boolean') return refused('invalid_email_verified', 'emailVerified');
  if (typeof isDisabled !== 'boolean') return refused('invalid_disabled', 'disabled');
  const rawId = valueOf('id');
  const id = typeof rawId === 'string' ? rawId.toLowerCase() : rawId;
  if (isStrict && id !== undefined && !isEntityId(id)) return refused('invalid_id', 'id');

  const profile = profileOf({});
  for (const column of PROFILE_FIELDS) {
    const value = valueOf(column) ?? null;
    profile[column] = PROFILE[column].read(value) ?? null;
    if (isStrict && value !== null && profile[column] === null)
      return refused(`invalid_${PROFILE[column].column}`, column);
  }
  const passwordHash = hasNone ? undefined : String(hash);
  const { totpSecret } = format.extrasOf?.(row) ?? {};
  const known = { email, passwordHash, isEmailVerified, isDisabled, profile, totpSecret };
  return { ...known, id: isEntityId(id) ? id : undefined };
}

/** Follows a path into an export. */
export function valueAt(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null ? Object.getOwnPropertyDescriptor(at, key)?.value : undefined,
    value,
  );
}

/** Base64 or base64url, padded or not, as PHC strings have it. */
export function phcBase64(text: unknown): string {
  const base64 = typeof text === 'string' ? text.replaceAll('-', '+').replaceAll('_', '/') : '';
  return base64.replace(/=+$/, '');
}

export const phcOf = (bytes: Buffer): string => phcBase64(bytes.toString('base64'));
