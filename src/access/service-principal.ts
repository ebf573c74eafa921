/** The scopes that an operator can allow a service; the order is the one in which they are stored and shown. */
export const SERVICE_SCOPES = ['introspect', 'memberships', 'events'] as const;

export type ServiceScope = (typeof SERVICE_SCOPES)[number];

export interface ServicePrincipal {
  kind: 'service';
  name: string;
  allow: readonly ServiceScope[];
  /** in which the credentials were found: what they open ends with it */
  epoch: number;
}
