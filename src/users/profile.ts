import { createHash } from 'node:crypto';
import { canonicalLocale, MAX_LOCALE, oneLine } from '../identifiers/text.js';
import type { User } from './user.entity.js';

const MAX_NAME = 100;
const MAX_AVATAR_URL = 500;
/** Limits the text before it is parsed. Removed dots and punycode can make a URL shorter. */
const MAX_RAW_AVATAR_URL = 2 * MAX_AVATAR_URL;
/** The URL parser would drop line breaks and tabs, and add missing slashes. */
const AVATAR_URL = /^https:\/\/[^\p{C}\p{Z}\\]+$/iu;

interface ProfileField {
  column: string;
  maxLength: number;
  read: (value: unknown) => string | undefined;
  expected: string;
  example: string;
  description: string;
}

/** What users write about themselves. Requests, statements, events and the import follow from this table. */
export const PROFILE = {
  name: {
    column: 'name',
    maxLength: MAX_NAME,
    read: (value) => oneLine(value, MAX_NAME),
    expected: `must be text of 1 to ${MAX_NAME} characters without control characters`,
    example: 'Ada Lovelace',
    description: 'Name of the user. Null if there is none.',
  },
  avatarUrl: {
    column: 'avatar_url',
    maxLength: MAX_AVATAR_URL,
    read: readAvatarUrl,
    expected: `must be an https URL of at most ${MAX_AVATAR_URL} octets without credentials`,
    example: 'https://example.com/ada.png',
    description: 'URL of a picture of the user, which Accounts does not fetch. Null if there is none.',
  },
  locale: {
    column: 'locale',
    maxLength: MAX_LOCALE,
    read: canonicalLocale,
    expected: `must be a language tag (BCP 47) of at most ${MAX_LOCALE} characters, such as de or pt-BR`,
    example: 'en-GB',
    description: 'Language of emails to the user (BCP 47). Null if there is none.',
  },
} as const satisfies Partial<Record<keyof User, ProfileField>>;

export const PROFILE_CHANGED = 'The profile has changed since you read it. Read it again.';

export type ProfileFieldName = keyof typeof PROFILE;

export type Profile = Pick<User, ProfileFieldName>;

export type ProfileChange = { [Name in ProfileFieldName]?: Profile[Name] | undefined };

export const PROFILE_FIELDS = Object.keys(PROFILE) as ProfileFieldName[];

export const PROFILE_COLUMNS = PROFILE_FIELDS.map((name) => `${PROFILE[name].column} AS ${name}`).join(', ');

export function profileOf(user: Partial<Profile>, change: ProfileChange = {}): Profile {
  const valueOf = (name: ProfileFieldName): string | null =>
    change[name] === undefined ? (user[name] ?? null) : change[name];
  return Object.fromEntries(PROFILE_FIELDS.map((name) => [name, valueOf(name)])) as Profile;
}

/** A hash, because the revision of the user also counts changes that the profile does not show. */
export function profileTag(profile: Profile): string {
  const text = JSON.stringify(PROFILE_FIELDS.map((name) => profile[name]));
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function readAvatarUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_RAW_AVATAR_URL || !AVATAR_URL.test(value))
    return undefined;
  const url = URL.parse(value);
  if (url === null || url.username !== '' || url.password !== '') return undefined;
  return url.href.length <= MAX_AVATAR_URL ? url.href : undefined;
}
