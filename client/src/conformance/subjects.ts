import type { Role } from '../api.gen.ts';
import type { GivenKey, GivenSession } from './script.ts';

export interface User {
  id: string;
  epoch: number;
  revision: number;
  state: 'enabled' | 'disabled' | 'deleted';
}
export interface Session extends GivenSession {
  id: string;
  epoch: number;
  loginId: string;
  authTime: number;
}
export interface Member {
  role: Role;
  isSuspended: boolean;
}
export interface Org {
  id: string;
  revision: number;
  isDeleted: boolean;
  requiredFrom: number | undefined;
  members: Map<string, Member>;
}
export interface Key extends GivenKey {
  id: string;
  text: string;
  exp: number;
  isRevoked: boolean;
}
export interface About {
  org?: Org | undefined;
  user?: User | undefined;
  sessionId?: string | undefined;
}
