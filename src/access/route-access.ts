import { Reflector } from '@nestjs/core';
import type { Assurance } from './assurance.js';
import type { Role } from './role.js';
import type { ServiceScope } from './service-principal.js';

/** Every route declares exactly one; a route that declares none is refused. */
export type Access =
  | { to: 'everyone' }
  | { to: 'signed-in'; assurance?: Assurance; or?: 'refresh-token' }
  | { to: 'members'; minRole: Role; assurance?: Assurance }
  | { to: 'services'; scope: ServiceScope }
  | { to: 'operators'; assurance: Assurance };

export const RouteAccess = Reflector.createDecorator<Access>();

/** Logging out needs no user: a refresh token is enough. */
export function needsUser(access: Access): boolean {
  if (access.to === 'signed-in') return access.or === undefined;
  return access.to === 'members' || access.to === 'operators';
}
