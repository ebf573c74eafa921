import { readFileSync } from 'node:fs';

/** In reading order. An operation belongs to the section with the longest prefix of its path. */
export const SECTIONS: { tag: string; description: string; prefixes: string[] }[] = [
  {
    tag: 'Authentication',
    description:
      'Register, log in and out, and refresh the access token. A login opens a session; `refresh: true` adds a refresh token. A login of a user with two-factor authentication has a second step. A login at a provider goes through the browser.',
    prefixes: ['register', 'login', 'providers', 'refresh', 'logout', 'config'].map(
      (name) => `/api/auth/${name}`,
    ),
  },
  {
    tag: 'Password reset',
    description:
      'A user who forgot the password gets a reset code by email and sets a new password with it. All sessions end.',
    prefixes: ['/api/auth/password'],
  },
  {
    tag: 'Login hand-off',
    description:
      'A client issues a one-time code for an internal service, which exchanges it for an access token of its own. The access token of the user never leaves the client.',
    prefixes: ['/api/auth/code'],
  },
  {
    tag: 'User',
    description: 'The signed-in user: details, email, password, export and deletion.',
    prefixes: ['/api/me'],
  },
  {
    tag: 'Two-factor authentication',
    description:
      'Enroll an authenticator app (TOTP, RFC 6238), renew recovery codes, and remove two-factor authentication.',
    prefixes: ['/api/me/second-factor'],
  },
  {
    tag: 'Sessions',
    description: 'List and revoke the sessions of the user. A revoked session is rejected immediately.',
    prefixes: ['/api/me/sessions'],
  },
  {
    tag: 'Received invitations',
    description: 'Invitations to the email of the user: accept or decline them, by id or by code.',
    prefixes: ['/api/me/invitations'],
  },
  {
    tag: 'Organizations',
    description:
      'A user who creates an organization owns it. Roles decide who manages whom: `member` < `admin` < `owner`. An organization keeps at least one enabled owner.',
    prefixes: ['/api/orgs', '/api/me/orgs', '/api/me/deleted-orgs'],
  },
  {
    tag: 'Members',
    description:
      'Members join by email with a role. Admins manage members and admins; only owners manage owners.',
    prefixes: ['/api/orgs/{orgId}/members'],
  },
  {
    tag: 'Invitations',
    description:
      'Admins and owners invite an email, whether or not it has a user. The response does not reveal which.',
    prefixes: ['/api/orgs/{orgId}/invitations'],
  },
  {
    tag: 'API keys',
    description:
      'A program sends an API key to one service, and acts there as the user who made it. Anyone who finds an API key can revoke it.',
    prefixes: ['/api/me/keys', '/api/orgs/{orgId}/keys', '/api/keys'],
  },
  {
    tag: 'Audit log',
    description:
      'Every change is an event. Users read their own events, admins and owners those of their organization.',
    prefixes: ['/api/me/events', '/api/orgs/{orgId}/events'],
  },
  {
    tag: 'Services',
    description:
      'Internal services authenticate with name and secret (HTTP Basic). They introspect access tokens, list memberships, look up names and follow the event feed.',
    prefixes: [
      '/api/auth/introspect',
      '/api/auth/token',
      '/api/memberships',
      '/api/directory',
      '/api/events',
    ],
  },
  {
    tag: 'Discovery and keys',
    description: 'Server metadata (RFC 8414) and the public keys that verify access tokens (RFC 7517).',
    prefixes: ['/.well-known'],
  },
  {
    tag: 'Health',
    description: 'Probes for supervisors and load balancers.',
    prefixes: ['/health'],
  },
  {
    tag: 'Admin: Users',
    description:
      'Operators find, disable, help and delete users. Every change has a reason, which the audit log keeps.',
    prefixes: ['/api/operators/users'],
  },
  {
    tag: 'Admin: Organizations',
    description: 'Operators find, restore and delete organizations, and add owners.',
    prefixes: ['/api/operators/orgs'],
  },
  {
    tag: 'Admin: Audit log',
    description: 'Operators search all events.',
    prefixes: ['/api/operators/events'],
  },
  {
    tag: 'Admin: Emails',
    description: 'Operators list emails that wait or failed, and send one again.',
    prefixes: ['/api/operators/mails'],
  },
  {
    tag: 'Admin: Services',
    description:
      'Operators list services, and disable or enable one. Secrets are managed on the command line.',
    prefixes: ['/api/operators/services'],
  },
  {
    tag: 'Admin: Providers',
    description:
      'Operators list providers, and disable or enable one. The command line adds and changes them.',
    prefixes: ['/api/operators/providers'],
  },
  {
    tag: 'Admin: API keys',
    description: 'Operators list the API keys of users and organizations, and revoke one.',
    prefixes: ['/api/operators/keys'],
  },
  {
    tag: 'Admin: Status',
    description: 'The state of the instance: version, schema, keys, queues and settings.',
    prefixes: ['/api/operators/status'],
  },
];

export const INTRODUCTION = readFileSync(new URL('./introduction.txt', import.meta.url), 'utf8').trimEnd();
