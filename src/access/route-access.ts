import { Reflector } from '@nestjs/core';
import type { Env } from '../config/env.js';
import type { Assurance } from './assurance.js';
import type { Role } from './role.js';
import type { ServiceScope } from './service-principal.js';

export interface ForBoundTokens {
  /** also admits tokens that a code for one service alone opened */
  boundTokens?: true;
}

/** Every route declares exactly one; a route that declares none is refused. */
export type Access =
  | { to: 'everyone'; or?: 'service' }
  | ({ to: 'signed-in'; assurance?: Assurance; or?: 'refresh-token' } & ForBoundTokens)
  | ({ to: 'members'; minRole: Role; assurance?: Assurance } & ForBoundTokens)
  | { to: 'services'; scope: ServiceScope }
  | { to: 'operators'; assurance: (env: Env) => Assurance };

export const RouteAccess = Reflector.createDecorator<Access>();

export function takesBoundTokens(access: Access | undefined): boolean {
  return (access?.to === 'signed-in' || access?.to === 'members') && access.boundTokens === true;
}

/** Logging out needs no user: a refresh token is enough. */
export function needsUser(access: Access): boolean {
  if (access.to === 'signed-in') return access.or === undefined;
  return access.to === 'members' || access.to === 'operators';
}
