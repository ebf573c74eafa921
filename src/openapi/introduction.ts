export interface Section {
  tag: string;
  description: string;
  /** An operation belongs to the section with the longest prefix of its path. */
  prefixes: string[];
}

/** The sections of the document, in reading order. */
export const SECTIONS: Section[] = [
  {
    tag: 'Authentication',
    description:
      'Register, log in and out, and refresh the access token. A login opens a session; `refresh: true` adds a refresh token. A login of a user with two-factor authentication has a second step.',
    prefixes: ['/api/auth/register', '/api/auth/login', '/api/auth/refresh', '/api/auth/logout'],
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
    tag: 'Audit log',
    description:
      'Every change is an event. Users read their own events, admins and owners those of their organization.',
    prefixes: ['/api/me/events', '/api/orgs/{orgId}/events'],
  },
  {
    tag: 'Services',
    description:
      'Internal services authenticate with name and secret (HTTP Basic). They introspect access tokens, list memberships and follow the event feed.',
    prefixes: ['/api/auth/introspect', '/api/memberships', '/api/events'],
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
    tag: 'Admin: Status',
    description: 'The state of the instance: version, schema, keys, queues and settings.',
    prefixes: ['/api/operators/status'],
  },
];

export const INTRODUCTION = `Self-hosted users, organizations and roles over REST.

**Base URL.** The origin that serves this document. All routes of clients begin with \`/api\`.

**Authentication.** Send the access token of a login as \`Authorization: Bearer <token>\`. Services send name and secret by HTTP
Basic. On this page, register or log in: later requests use the new access token until you leave the page.

**Errors.** A failure is a problem details object (RFC 9457) with a stable \`code\`. Branch on \`code\`:

\`\`\`json
{
  "type": "about:blank", "title": "Forbidden", "status": 403, "code": "insufficient_role",
  "detail": "This needs the role admin; yours is member.", "requestId": "2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11",
  "requiredRole": "admin"
}
\`\`\`

Failures outside the operations below have codes of their own: unknown paths (\`not_found\`), other methods (\`method_not_allowed\`),
URLs of more than 2,048 characters (\`uri_too_long\`), and requests that are malformed or incomplete.

**Pagination.** \`?limit=100\` returns a page. Send \`nextCursor\` as \`cursor\` to get the next one, or follow the \`Link\` header
(RFC 8288). The last page has no \`nextCursor\`.

**Idempotency.** Changes of an organization accept \`Idempotency-Key\` (1 to 255 visible ASCII characters). A repeat within 24 hours
returns the first response. The same key on another request is 422 \`idempotency_key_reused\`.

**Preconditions.** Reads and changes of an organization return an \`ETag\`. With \`If-Match\`, a change applies only to that state, else
it is 412 \`precondition_failed\`. \`?dryRun=true\` runs a change and rolls it back; \`?remedy=true\` adds a suggested fix to a refusal.

**Limits.** Limited routes send \`RateLimit\` and \`RateLimit-Policy\`. A refused request is 429 with \`Retry-After\` in seconds. A body
has at most 16 KiB, and a response takes at most 5 seconds, else it is 503 \`unavailable\`: repeat it with the same idempotency key.

**Versions.** \`info.version\` is the version of Accounts. Minor versions may add routes, fields, event types and error codes; ignore
what you do not know.

**Request ids.** Every response has \`X-Request-Id\`, yours if you sent one (1 to 128 characters of \`A-Za-z0-9._:-\`). The log has it.`;
