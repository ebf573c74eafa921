import { describe, expect, it } from 'vitest';
import {
  DEFAULT_SETTINGS,
  DOMAINS,
  ISSUER,
  isProviderName,
  type ProviderSettings,
  readSettings,
  SETTING_NAMES,
  SETTINGS,
  settingsFault,
  shownSetting,
  SUBJECT,
} from './provider-settings.js';

const PROTOCOL = [
  'state',
  'redirect_uri',
  'response_type',
  'response_mode',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'client_id',
  'client_secret',
  'max_age',
  'scope',
  'login_hint',
  'request',
  'request_uri',
];

describe('the name of a provider', () => {
  it.each(['a', 'acme', 'acme-2', 'finish2', 'a'.repeat(40)])('is %s', (name) => {
    expect(isProviderName(name)).toBe(true);
  });

  it.each(['', 'Acme', 'finish', 'a'.repeat(41), '../', '%2e', '2a', '-a', 'a_b', 'a b', 'a\n'])(
    'is not %j',
    (name) => {
      expect(isProviderName(name)).toBe(false);
    },
  );
});

describe('domains', () => {
  it.each([
    ['example.com', ['example.com']],
    ['Example.COM, acme.example', ['acme.example', 'example.com']],
    ['bücher.example', ['xn--bcher-kva.example']],
    ['none', []],
  ])('%s are %j', (text, domains) => {
    expect(DOMAINS.parse(text)).toEqual(domains);
  });

  it.each([
    'com',
    'example.com.',
    'example.com,example.com',
    'example.com,EXAMPLE.com',
    'a..example',
    'ada@example.com',
    '127.0.0.1',
    '*.example.com',
    '',
    'example.com,',
    `${'a'.repeat(60)}.`.repeat(5) + 'example',
    Array.from({ length: 101 }, (_, index) => `d${index}.example`).join(','),
  ])('are not %j', (text) => {
    expect(DOMAINS.parse(text)).toBeUndefined();
  });
});

describe('an issuer', () => {
  it.each([
    'https://id.example',
    'https://id.example/',
    'https://id.example/realms/a',
    'http://127.0.0.1:8080',
  ])('is %s', (issuer) => {
    expect(ISSUER.parse(issuer)).toBe(issuer);
  });

  it.each([
    '',
    'id.example',
    'ftp://id.example',
    'https://',
    'https://id.example?a=b',
    'https://id.example/#a',
    'https://user:password@id.example',
    'https://id.example/ a',
    'https://id.example\\a',
    `https://id.example/${'a'.repeat(255)}`,
  ])('is not %j', (issuer) => {
    expect(ISSUER.parse(issuer)).toBeUndefined();
  });
});

describe('a setting', () => {
  it.each<[keyof ProviderSettings, string, unknown]>([
    ['createUsers', 'on', true],
    ['trustEmails', 'off', false],
    ['sessionMaxAge', '5m', 300],
    ['sessionMaxAge', '24h', 86_400],
    ['sessionMaxAge', '301s', 301],
    ['scopes', 'openid', 'openid'],
    ['scopes', 'profile openid https://example.com/a', 'profile openid https://example.com/a'],
    ['emailClaim', 'upn', 'upn'],
    ['emailClaim', 'https://example.com/email', 'https://example.com/email'],
    ['subjectClaim', 'oid', 'oid'],
    ['require', 'none', null],
    ['require', 'hd=example.com', { name: 'hd', value: 'example.com' }],
    ['require', 'groups=a=b', { name: 'groups', value: 'a=b' }],
    ['params', 'none', null],
    ['params', 'hd=example.com&prompt=select_account', 'hd=example.com&prompt=select_account'],
  ])('%s %j is %j, and is shown as it was typed', (name, text, value) => {
    expect(SETTINGS[name].parse(text)).toEqual(value);
    expect(shownSetting(value as ProviderSettings[typeof name])).toBe(text);
  });

  it.each<[keyof ProviderSettings, string]>([
    ['createUsers', 'yes'],
    ['sameNetwork', ''],
    ['sessionMaxAge', '299s'],
    ['sessionMaxAge', '0h'],
    ['sessionMaxAge', '300'],
    ['scopes', 'email'],
    ['scopes', 'openid  email'],
    ['scopes', ' openid'],
    ['scopes', 'openid "email"'],
    ['scopes', `openid ${'a'.repeat(300)}`],
    ['emailClaim', ''],
    ['emailClaim', 'a b'],
    ['emailClaim', 'a'.repeat(101)],
    ['subjectClaim', 'email'],
    ['require', 'hd'],
    ['require', '=example.com'],
    ['require', 'hd='],
    ['require', 'hd=a\nb'],
    ['require', `hd=${'a'.repeat(201)}`],
    ['params', ''],
    ['params', '=b'],
    ['params', 'a=1&a=2'],
    ['params', `a=${'b'.repeat(1000)}`],
    ...PROTOCOL.map((name): ['params', string] => ['params', `hd=example.com&${name}=a`]),
    ['params', 'st%61te=a'],
    ['params', 'a=\u0001'],
    ['params', 'a=\u001b[2J'],
    ['params', 'a=é'],
  ])('%s is not %j', (name, text) => {
    expect(SETTINGS[name].parse(text)).toBeUndefined();
  });

  it.each(SETTING_NAMES)('%s has a default that can be typed', (name) => {
    expect(SETTINGS[name].parse(shownSetting(DEFAULT_SETTINGS[name]))).toEqual(DEFAULT_SETTINGS[name]);
  });
});

describe('stored settings', () => {
  it('have the defaults of what they leave out', () => {
    const stored = { createUsers: true, require: { name: 'hd', value: 'example.com' } };
    expect(readSettings(JSON.stringify(stored))).toEqual({ ...DEFAULT_SETTINGS, ...stored });
    expect(readSettings('{}')).toEqual(DEFAULT_SETTINGS);
  });

  it.each([
    '',
    '{',
    '{"createUsers":"on"}',
    '{"createUsers":1}',
    '{"createUsers":null}',
    '{"sessionMaxAge":0}',
    '{"sessionMaxAge":300.5}',
    '{"scopes":"email"}',
    '{"subjectClaim":"email"}',
    '{"require":{"name":"hd","value":"example.com","more":1}}',
    '{"require":"hd=example.com"}',
    '{"params":"state=a"}',
  ])('are refused if they are damaged: %s', (text) => {
    expect(() => readSettings(text)).toThrow(/JSON|damaged/);
  });
});

describe('settings that need each other', () => {
  const ISSUER_OF_ACME = 'https://id.acme.example';
  const faultOf = (
    settings: Partial<ProviderSettings>,
    provider: Partial<Parameters<typeof settingsFault>[1]> = {},
  ) =>
    settingsFault(
      { ...DEFAULT_SETTINGS, ...settings },
      { issuer: ISSUER_OF_ACME, domains: [], required: false, ...provider },
    );
  const domains = ['acme.example'];

  it.each(['createUsers', 'linkByEmail', 'trustEmails'] as const)('%s needs a domain', (name) => {
    expect(faultOf({ [name]: true })).toContain('need a domain');
    expect(faultOf({ [name]: true }, { domains })).toBeUndefined();
  });

  it('required needs a domain', () => {
    expect(faultOf({}, { required: true })).toContain('need a domain');
    expect(faultOf({}, { required: true, domains })).toBeUndefined();
  });

  it('another claim for the email needs trustEmails', () => {
    expect(faultOf({ emailClaim: 'upn' }, { domains })).toContain('--trust-emails on');
    expect(faultOf({ emailClaim: 'upn', trustEmails: true }, { domains })).toBeUndefined();
  });

  it.each(['common', 'common/v2.0', 'organizations/v2.0', 'Organizations/', 'COMMON/'])(
    'Entra ID needs a tenant, not %s',
    (path) => {
      const issuer = `https://login.microsoftonline.com/${path}`;
      expect(faultOf({}, { issuer })).toContain('name your tenant');
    },
  );

  it('Entra ID is fine with a tenant', () => {
    const issuer = 'https://login.microsoftonline.com/9b3c1f6e-0c4b-4a43-9a3e-6d3f2f6f0001/v2.0';
    expect(faultOf({}, { issuer })).toBeUndefined();
  });

  it.each(['https://accounts.google.com', 'https://accounts.google.com/'])('%s needs hd', (issuer) => {
    expect(faultOf({}, { issuer })).toContain('--require hd=');
    expect(faultOf({ require: { name: 'sub', value: 'a' } }, { issuer })).toContain('--require hd=');
    expect(faultOf({ require: { name: 'hd', value: 'acme.example' } }, { issuer })).toBeUndefined();
  });
});

it.each([
  ['a', true],
  ['😀'.repeat(255), true],
  ['😀'.repeat(256), false],
  ['', false],
  ['a\tb', false],
  ['a\ud800', false],
])('an operator links the subject %j: %s, as a login would', (subject, isAccepted) => {
  expect(SUBJECT.parse(subject)).toBe(isAccepted ? subject : undefined);
});
