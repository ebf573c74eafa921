import type { FastifyInstance } from 'fastify';
import { type Database, type Db, DuplicateError } from './db.ts';
import { email, objectBody, oneOf } from './input.ts';
import { Problem } from './problems.ts';
import * as sql from './statements.ts';
import { authenticate } from './tokens.ts';

interface OrgPath {
  Params: { id: string };
}
interface MemberPath {
  Params: { id: string; uid: string };
}
interface Locked {
  actorRole: string;
  targetRole: string | undefined;
  owners: number;
}

export function memberRoutes(app: FastifyInstance, db: Database): void {
  app.post<OrgPath>('/api/orgs/:id/members', async (request, reply) => {
    const caller = authenticate(request.headers.authorization);
    const orgId = request.params.id;
    const input = await checked(db, orgId, caller.userId, () => {
      const body = objectBody(request.body);
      return { email: email(body), role: oneOf(body, 'role', ['member', 'admin']) };
    });
    const member = await db.transaction(async (tx) => {
      await lock(tx, orgId, caller.userId, '');
      const user = await sql.lockUser(tx, input.email);
      if (!user) throw new Problem(404, 'user_not_found', 'Nobody has registered with this e-mail.');
      if (user.atLimit !== null) {
        throw new Problem(
          409,
          'user_has_too_many_orgs',
          'The user belongs to as many organizations as one may.',
        );
      }
      await sql.insertMember(tx, orgId, user.id, input.role, Date.now()).catch(rethrowAsMember);
      return { userId: user.id, role: input.role };
    });
    return reply.code(201).send({ member });
  });

  app.patch<MemberPath>('/api/orgs/:id/members/:uid', async (request) => {
    const caller = authenticate(request.headers.authorization);
    const { id: orgId, uid } = request.params;
    const role = await checked(db, orgId, caller.userId, () =>
      oneOf(objectBody(request.body), 'role', ['member', 'admin', 'owner']),
    );
    await db.transaction(async (tx) => {
      const locked = await lock(tx, orgId, caller.userId, uid);
      mayChange(locked, role);
      if (locked.targetRole !== role) await sql.updateRole(tx, orgId, uid, role);
    });
    return { member: { userId: uid, role } };
  });

  app.delete<MemberPath>('/api/orgs/:id/members/:uid', async (request) => {
    const caller = authenticate(request.headers.authorization);
    const { id: orgId, uid } = request.params;
    await db.transaction(async (tx) => {
      mayChange(await lock(tx, orgId, caller.userId, uid), undefined);
      await sql.deleteMember(tx, orgId, uid);
    });
    return { ok: true };
  });
}

/** A bad body is told only to those who may manage the organization, so that case is looked up on its own. */
async function checked<T>(db: Database, orgId: string, userId: string, read: () => T): Promise<T> {
  try {
    return read();
  } catch (error) {
    const org = await sql.findOrg(db, orgId, userId);
    if (!org) throw orgNotFound();
    requireAdmin(org.role ?? undefined);
    throw error;
  }
}

/** Writes the organization's row first, then reads once; see `touchOrg`. */
async function lock(tx: Db, orgId: string, actorId: string, targetId: string): Promise<Locked> {
  if ((await sql.touchOrg(tx, orgId)) === 0) throw orgNotFound();
  const rows = await sql.lockMembers(tx, orgId, actorId, targetId);
  return {
    actorRole: requireAdmin(rows.find((row) => row.userId === actorId)?.role),
    targetRole: rows.find((row) => row.userId === targetId)?.role,
    owners: rows.filter((row) => row.role === 'owner').length,
  };
}

/** `to` is undefined for a removal. */
function mayChange({ actorRole, targetRole, owners }: Locked, to: string | undefined): void {
  if (targetRole === undefined) throw new Problem(404, 'member_not_found', 'There is no such member.');
  if (actorRole !== 'owner' && (targetRole === 'owner' || to === 'owner'))
    throw roleTooLow('owner', actorRole);
  if (targetRole === 'owner' && to !== 'owner' && owners === 1) {
    throw new Problem(409, 'last_owner', 'An organization must keep at least one owner.');
  }
}

function requireAdmin(role: string | undefined): string {
  if (role === undefined)
    throw new Problem(403, 'not_a_member', 'You are not a member of this organization.');
  if (role === 'member') throw roleTooLow('admin', role);
  return role;
}

function roleTooLow(requiredRole: string, yourRole: string): Problem {
  return new Problem(403, 'insufficient_role', 'Your role does not allow this.', { requiredRole, yourRole });
}

function orgNotFound(): Problem {
  return new Problem(404, 'org_not_found', 'There is no such organization.');
}

function rethrowAsMember(error: unknown): never {
  if (!(error instanceof DuplicateError)) throw error;
  throw new Problem(409, 'already_member', 'This user is already a member.');
}
