import type { CommandDefinition, CommandGroup } from './command/definition.js';

type Options = NonNullable<CommandDefinition['options']>;

const SETTINGS: Options = [
  ['--title <TEXT>', 'text of the button, 1 to 100 characters (default: the name)'],
  ['--domains <LIST>', 'email domains that the provider speaks for, separated by commas (default: none)'],
  ['--create-users <ON|OFF>', 'create users whom Accounts does not know (default: off)'],
  [
    '--link-by-email <ON|OFF>',
    'link existing users without their password; only for domains whose mailboxes the company gives out (default: off)',
  ],
  [
    '--trust-emails <ON|OFF>',
    'trust emails without email_verified, if users cannot change the claim at the provider (default: off)',
  ],
  ['--required <ON|OFF>', 'reject logins of these users by password (default: off)'],
  ['--same-network <ON|OFF>', 'the browser and the program must be in one network (default: off)'],
  [
    '--session-max-age <DURATION>',
    'end sessions this long after the login, from 5m to SESSION_MAX_AGE (default: 24h)',
  ],
  ['--scopes <LIST>', 'scopes, separated by spaces (default: "openid email profile")'],
  ['--email-claim <NAME>', 'claim with the email (default: email); another one needs --trust-emails on'],
  ['--subject-claim <NAME>', 'sub, or oid for Entra ID; fixed once a user is linked (default: sub)'],
  ['--require <NAME=VALUE>', 'a claim that the ID token must have, such as hd=example.com (default: none)'],
  [
    '--params <QUERY>',
    'more parameters of the authorization request, such as "hd=example.com" (default: none)',
  ],
];

const FORCE: Options[number] = ['--force', 'continue even if the test of the provider fails'];
const END_SESSIONS: Options[number] = [
  '--end-sessions',
  'also end every session of the users who are linked',
];
const SECRET = 'Reads the secret of the client from standard input, as one line.';

export const PROVIDERS: CommandGroup = {
  name: 'providers',
  summary: "OpenID Connect providers where companies' users log in, and the users who are linked",
  commands: [
    {
      usage: 'list',
      summary: 'list all providers by name, including disabled ones',
      examples: ['providers list', 'providers list --json'],
      run: async () => (await import('./providers.js')).listProviders(),
    },
    {
      usage: 'show <NAME>',
      summary: 'show a provider, its settings and how many users are linked',
      examples: ['providers show acme'],
      run: async (invocation) => (await import('./providers.js')).showProvider(invocation),
    },
    {
      usage: 'test <NAME>',
      summary: 'check discovery, keys, client and secret, and print the redirect URI to register',
      details:
        'Exits with 1 if a check fails. To check the secret, it sends a made-up code, which the provider must reject.',
      examples: ['providers test acme'],
      run: async (invocation) => (await import('./providers.js')).testProvider(invocation),
    },
    {
      usage: 'add <NAME>',
      summary: 'add a provider and test it',
      details: `A name has 1 to 40 lower-case letters, digits and hyphens. ${SECRET} The settings are off until you turn them on.`,
      options: [
        ['--issuer <URL>', 'issuer, as in the discovery document of the provider (required)'],
        ['--client-id <ID>', 'id of the client at the provider (required)'],
        ...SETTINGS,
        FORCE,
      ],
      changes: true,
      examples: [
        'providers add acme --issuer https://id.acme.example --client-id accounts --reason "ticket 4711" < secret.txt',
      ],
      run: async (invocation) => (await import('./providers.js')).addProvider(invocation),
    },
    {
      usage: 'change <NAME>',
      summary: 'change settings of a provider, immediately on every instance',
      details:
        'A new client id is tested first. The issuer of a provider cannot change, because identities belong to it.',
      options: [['--client-id <ID>', 'id of the client at the provider'], ...SETTINGS, FORCE],
      changes: true,
      examples: ['providers change acme --domains acme.example --create-users on --reason "ticket 4711"'],
      run: async (invocation) => (await import('./providers.js')).changeProvider(invocation),
    },
    {
      usage: 'set-secret <NAME>',
      summary: 'replace the secret of the client, immediately on every instance',
      details: `${SECRET} The secret is tested first.`,
      options: [FORCE],
      changes: true,
      examples: ['providers set-secret acme --reason "the old one expires in May" < secret.txt'],
      run: async (invocation) => (await import('./providers.js')).setProviderSecret(invocation),
    },
    {
      usage: 'disable <NAME>',
      summary: 'disable a provider: nobody can log in there, and required logins are off',
      options: [END_SESSIONS],
      changes: true,
      examples: ['providers disable acme --end-sessions --reason "compromised"'],
      run: async (invocation) => (await import('./providers.js')).disableProvider(invocation),
    },
    {
      usage: 'enable <NAME>',
      summary: 'test a provider and enable it again',
      options: [FORCE],
      changes: true,
      examples: ['providers enable acme --reason "repaired"'],
      run: async (invocation) => (await import('./providers.js')).enableProvider(invocation),
    },
    {
      usage: 'remove <NAME>',
      summary: 'delete a provider and its identities; the name can be used again',
      details: 'If the command is interrupted, run it again.',
      options: [END_SESSIONS, ['--force', 'continue even if users who are linked have no password']],
      changes: true,
      examples: ['providers remove acme --end-sessions --reason "the contract ended"'],
      run: async (invocation) => (await import('./providers.js')).removeProvider(invocation),
    },
    {
      usage: 'link <NAME> <USER>',
      summary: 'let a user of the provider log in as this user',
      details: 'USER is an email or an id.',
      options: [['--subject <SUB>', 'the subject of the user at the provider (required)']],
      changes: true,
      examples: ['providers link acme ada@acme.example --subject 248289761001 --reason "ticket 4711"'],
      run: async (invocation) => (await import('./providers.js')).linkUser(invocation),
    },
    {
      usage: 'unlink <NAME> <USER>',
      summary: 'delete the identity of a user at a provider, and end every session of the user',
      details:
        'USER is an email or an id. The password and API keys of the user stay: disable a user who has left.',
      changes: true,
      examples: ['providers unlink acme ada@acme.example --reason "the email was given to another person"'],
      run: async (invocation) => (await import('./providers.js')).unlinkUser(invocation),
    },
  ],
};
