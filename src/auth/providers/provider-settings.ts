import { isDeepStrictEqual } from 'node:util';
import { type Format, issuerUrl, ON_OR_OFF, oneOf, parseDuration } from '../../config/readers.js';
import { normalizedDomain } from '../../config/domain-name.js';
import { oneLine } from '../../identifiers/text.js';

export const PROVIDER_NAME = /^[a-z][a-z0-9-]{0,39}$/;
/** `POST /api/auth/providers/finish` is a route of its own. */
const NAME_OF_A_ROUTE = 'finish';

export function isProviderName(text: string): boolean {
  return PROVIDER_NAME.test(text) && text !== NAME_OF_A_ROUTE;
}

/** What operators register at the provider. Undefined if `JWT_ISSUER` is not a URL. */
export function callbackUri(jwtIssuer: string, providerName: string): string | undefined {
  const issuer = issuerUrl(jwtIssuer);
  return issuer && `${issuer.base}/api/auth/providers/${providerName}/callback`;
}

/** What no statement searches for: one JSON text in the row of the provider. */
export interface ProviderSettings {
  createUsers: boolean;
  linkByEmail: boolean;
  trustEmails: boolean;
  sameNetwork: boolean;
  /** seconds */
  sessionMaxAge: number;
  /** separated by single spaces */
  scopes: string;
  emailClaim: string;
  subjectClaim: 'sub' | 'oid';
  /** a claim that the ID token must have */
  require: { name: string; value: string } | null;
  /** more parameters of the authorization request, in the form of a query */
  params: string | null;
}

export const DEFAULT_SETTINGS: ProviderSettings = {
  createUsers: false,
  linkByEmail: false,
  trustEmails: false,
  sameNetwork: false,
  sessionMaxAge: 86_400,
  scopes: 'openid email profile',
  emailClaim: 'email',
  subjectClaim: 'sub',
  require: null,
  params: null,
};

/** Sessions end earlier if `SESSION_MAX_AGE` is below it. */
export const MIN_SESSION_MAX_AGE = 300;
const MAX_SCOPES = 300;
const MAX_ISSUER = 255;
const MAX_DOMAINS = 100;
const MAX_DOMAIN = 253;
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/; // RFC 6749 section 3.3
const CLAIM = /^[\x21-\x3c\x3e-\x7e]{1,100}$/;
const PARAMS = /^[\x20-\x7e]{1,1000}$/;
const CLAIM_VALUE = /^[^\p{C}]{1,200}$/u;

/** Accounts sets these itself, or they would send the response elsewhere or show the secret. */
const RESERVED_PARAMS =
  /^(?:client_|code_|login_hint$|max_age$|nonce$|redirect_uri$|request$|request_uri$|response_|scope$|state$)/;

const ENTRA_OF_ALL_TENANTS =
  /^https:\/\/(?:login\.microsoftonline\.|login\.partner\.microsoftonline\.|sts\.windows\.)[^/]+\/(?:common|organizations)(?:\/|$)/i;
const GOOGLE = /^https:\/\/accounts\.google\.com(?:\/|$)/i;
const NEED_A_DOMAIN = ['createUsers', 'linkByEmail', 'trustEmails'] as const;

const NONE = 'none';

export const TITLE: Format<string> = {
  expected: '1 to 100 characters on one line',
  parse: (text) => oneLine(text, 100),
};

export const DOMAINS: Format<string[]> = {
  expected: `none, or up to ${MAX_DOMAINS} different domains such as example.com, separated by commas`,
  parse: (text) => {
    if (text === NONE) return [];
    const parts = text.split(',', MAX_DOMAINS + 1);
    const domains = parts.map((part) => normalizedDomain(part.trim()) ?? '').toSorted();
    const isFine = domains.every((domain) => domain !== '' && domain.length <= MAX_DOMAIN);
    return isFine && domains.length <= MAX_DOMAINS && new Set(domains).size === domains.length
      ? domains
      : undefined;
  },
};

export const ISSUER: Format<string> = {
  expected: `an https URL of at most ${MAX_ISSUER} characters without a query`,
  parse: (text) =>
    text.length <= MAX_ISSUER && /^https?:\/\/[^\s?#\\@]+$/.test(text) && URL.canParse(text)
      ? text
      : undefined,
};

export const CLIENT_ID: Format<string> = {
  expected: '1 to 255 characters without spaces',
  parse: (text) => (/^[\x21-\x7e]{1,255}$/.test(text) ? text : undefined),
};

export const SUBJECT: Format<string> = {
  expected: '1 to 255 characters on one line',
  parse: (text) => (isSubject(text) ? text : undefined),
};

/** MySQL would store a lone surrogate as another character. */
export function isSubject(value: unknown): value is string {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(value);
}

/** How the command line writes each setting. */
export const SETTINGS: { [K in keyof ProviderSettings]: Format<ProviderSettings[K]> } = {
  createUsers: ON_OR_OFF,
  linkByEmail: ON_OR_OFF,
  trustEmails: ON_OR_OFF,
  sameNetwork: ON_OR_OFF,
  sessionMaxAge: {
    expected: 'a duration such as 8h or 24h, from 5m to SESSION_MAX_AGE',
    parse: (text) => {
      const seconds = parseDuration(text) ?? 0;
      return seconds >= MIN_SESSION_MAX_AGE ? seconds : undefined;
    },
  },
  scopes: {
    expected: `scopes separated by spaces, openid among them, at most ${MAX_SCOPES} characters`,
    parse: (text) =>
      text.length <= MAX_SCOPES && SCOPES.test(text) && text.split(' ').includes('openid') ? text : undefined,
  },
  emailClaim: {
    expected: 'the name of a claim',
    parse: (text) => (CLAIM.test(text) ? text : undefined),
  },
  subjectClaim: oneOf('sub', 'oid'),
  require: {
    expected: 'none, or a claim and its value such as hd=example.com',
    parse: (text) => {
      if (text === NONE) return null;
      const [, name = '', value = ''] = /^([^=]*)=(.*)$/u.exec(text) ?? [];
      return CLAIM.test(name) && CLAIM_VALUE.test(value) ? { name, value } : undefined;
    },
  },
  params: {
    expected:
      'none, or parameters such as "hd=example.com&prompt=select_account", none of the protocol and none twice',
    parse: (text) => {
      if (text === NONE) return null;
      const names = PARAMS.test(text) ? [...new URLSearchParams(text).keys()] : [];
      const isFine = names.length > 0 && names.every((name) => name !== '' && !RESERVED_PARAMS.test(name));
      return isFine && new Set(names).size === names.length ? text : undefined;
    },
  },
};

export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof ProviderSettings)[];

/** Returns the text that `SETTINGS` parses to the value. */
export function shownSetting(value: ProviderSettings[keyof ProviderSettings]): string {
  if (value === null) return NONE;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'object') return `${value.name}=${value.value}`;
  if (typeof value === 'string') return value;
  const [unit, seconds] = value % 3600 === 0 ? ['h', 3600] : value % 60 === 0 ? ['m', 60] : ['s', 1];
  return `${value / seconds}${unit}`;
}

/** @throws Error if the row was damaged: no login may go on with settings that an operator did not set */
export function readSettings(text: string): ProviderSettings {
  const settings: ProviderSettings = {
    ...DEFAULT_SETTINGS,
    ...(JSON.parse(text) as Partial<ProviderSettings>),
  };
  const wrong = SETTING_NAMES.find((name) => !isValid(name, settings[name]));
  if (wrong === undefined) return settings;
  throw new Error(`the setting ${wrong} of a provider is damaged: accounts doctor names the provider`);
}

/** Logins and changes need the settings; a list must show a damaged row, too. */
export function areReadable(text: string): boolean {
  try {
    readSettings(text);
    return true;
  } catch {
    return false;
  }
}

function isValid<K extends keyof ProviderSettings>(name: K, value: ProviderSettings[K]): boolean {
  return isDeepStrictEqual(SETTINGS[name].parse(shownSetting(value)), value);
}

/** Returns why a provider cannot have these settings together, even with `--force`. */
export function settingsFault(
  settings: ProviderSettings,
  provider: { issuer: string; domains: readonly string[]; required: boolean },
): string | undefined {
  const needsDomain = provider.required || NEED_A_DOMAIN.some((name) => settings[name]);
  if (needsDomain && provider.domains.length === 0)
    return '--create-users, --link-by-email, --trust-emails and --required need a domain: set --domains';
  if (settings.emailClaim !== 'email' && !settings.trustEmails)
    return '--email-claim needs --trust-emails on: email_verified is about the claim "email" only';
  if (ENTRA_OF_ALL_TENANTS.test(provider.issuer))
    return 'this issuer stands for every tenant of Entra ID: name your tenant, https://login.microsoftonline.com/TENANT-ID/v2.0';
  if (GOOGLE.test(provider.issuer) && settings.require?.name !== 'hd')
    return 'personal Google accounts may have company emails: set --require hd=example.com, with the domain of your organization';
  return undefined;
}
