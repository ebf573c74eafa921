import { Reflector } from '@nestjs/core';
import type { Role } from './role.js';

/** Who may call a route. Every route declares exactly one; a route that declares none is refused. */
export type Access =
  | { to: 'everyone' }
  | { to: 'signed-in'; by?: 'password'; or?: 'refresh-token' }
  | { to: 'members'; minRole: Role; by?: 'password' };

export const RouteAccess = Reflector.createDecorator<Access>();

/** Whether each caller has to be signed in. Logging out is possible without, by a refresh token. */
export function needsCaller(access: Access): boolean {
  return access.to === 'members' || (access.to === 'signed-in' && access.or === undefined);
}
