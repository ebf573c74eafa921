import { Reflector } from '@nestjs/core';
import type { Role } from './role.js';

/** Who may call a route. Every route declares exactly one; a route that declares none is refused. */
export type Access =
  | { to: 'everyone' }
  | { to: 'signed-in'; by?: 'password'; or?: 'refresh-token' }
  | { to: 'members'; minRole: Role; by?: 'password' };

export const RouteAccess = Reflector.createDecorator<Access>();
