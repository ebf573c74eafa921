import type { OpenAPIObject } from '@nestjs/swagger';

/** orders paths within a tag as one comes to need them; unlisted ones follow */
const PATHS = [
  '/api/auth/register',
  '/api/auth/login',
  '/api/auth/login/second-factor',
  '/api/auth/refresh',
  '/api/auth/code',
  '/api/auth/code/exchange',
  '/api/auth/logout',
  '/api/auth/introspect',
  '/api/memberships',
  '/api/me',
  '/api/me/account',
  '/api/me/orgs',
  '/api/me/deleted-orgs',
  '/api/me/invitations',
  '/api/me/invitations/{invitationId}/accept',
  '/api/me/invitations/{invitationId}/decline',
  '/api/me/invitations/accept',
  '/api/me/invitations/decline',
  '/api/me/email',
  '/api/me/email/verification',
  '/api/me/email/verify',
  '/api/me/password',
  '/api/me/second-factor',
  '/api/me/second-factor/confirm',
  '/api/me/second-factor/recovery-codes',
  '/api/me/second-factor/remove',
  '/api/me/events',
  '/api/me/export',
  '/api/me/sessions',
  '/api/orgs',
  '/api/orgs/{orgId}',
  '/api/orgs/{orgId}/transfer',
  '/api/orgs/{orgId}/leave',
  '/api/orgs/{orgId}/restore',
  '/api/orgs/{orgId}/events',
  '/api/operators/status',
  '/api/operators/users',
  '/api/operators/users/{userId}',
  '/api/operators/users/{userId}/sessions',
  '/api/operators/users/{userId}/orgs',
  '/api/operators/users/{userId}/disable',
  '/api/operators/users/{userId}/enable',
  '/api/operators/users/{userId}/end-sessions',
  '/api/operators/users/{userId}/reset-code',
  '/api/operators/users/{userId}/verify-email',
  '/api/operators/users/{userId}/remove-second-factor',
  '/api/operators/users/{userId}/delete',
  '/api/operators/orgs',
  '/api/operators/orgs/{orgId}',
  '/api/operators/orgs/{orgId}/members',
  '/api/operators/orgs/{orgId}/owners',
  '/api/operators/orgs/{orgId}/restore',
  '/api/operators/orgs/{orgId}/delete',
  '/api/operators/events',
  '/api/operators/mails',
  '/api/operators/mails/{mailId}/retry',
  '/api/operators/services',
  '/api/operators/services/{name}',
  '/api/operators/services/{name}/disable',
  '/api/operators/services/{name}/enable',
];

export function putInReadingOrder(document: OpenAPIObject): void {
  const rank = (path: string): number => (PATHS.includes(path) ? PATHS.indexOf(path) : PATHS.length);
  document.paths = Object.fromEntries(
    Object.entries(document.paths).toSorted(([one], [other]) => rank(one) - rank(other)),
  );
  const { schemas = {}, responses = {} } = document.components ?? {};
  document.components = {
    ...document.components,
    schemas: byName(schemas),
    responses: byName(responses),
  };
}

function byName<T>(components: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
