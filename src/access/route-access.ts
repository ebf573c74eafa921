import { Reflector } from '@nestjs/core';
import type { Role } from './role.js';

/** Every route declares exactly one; a route that declares none is refused. */
export type Access =
  | { to: 'everyone' }
  | { to: 'signed-in'; by?: 'password'; or?: 'refresh-token' }
  | { to: 'members'; minRole: Role; by?: 'password' };

export const RouteAccess = Reflector.createDecorator<Access>();

/** Logging out needs no caller: a refresh token is enough. */
export function needsCaller(access: Access): boolean {
  return access.to === 'members' || (access.to === 'signed-in' && access.or === undefined);
}
