import { AuthorizationCode } from './auth/codes/authorization-code.entity.js';
import { PendingRevocation } from './auth/sessions/pending-revocation.entity.js';
import { Session } from './auth/sessions/session.entity.js';
import type { Schema } from './database/data-source-options.js';
import { CreateSchema1795219200000 } from './database/migrations/1795219200000-create-schema.js';
import { LinkSessions1795305600000 } from './database/migrations/1795305600000-link-sessions.js';
import { Member } from './members/member.entity.js';
import { Org } from './orgs/org.entity.js';
import { User } from './users/user.entity.js';

/** Listed by hand: a file that nobody names here is no part of the database. */
export const SCHEMA: Schema = {
  entities: [User, Session, AuthorizationCode, PendingRevocation, Org, Member],
  migrations: [CreateSchema1795219200000, LinkSessions1795305600000],
};
