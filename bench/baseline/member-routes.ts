import type { FastifyInstance } from 'fastify';
import { type Database, DuplicateError } from './db.ts';
import { email, objectBody, oneOf } from './input.ts';
import { conflict, Problem } from './problems.ts';
import type { NewEvent, Record } from './record.ts';
import * as sql from './statements.ts';
import { authenticate, type Caller } from './tokens.ts';

interface OrgPath {
  Params: { id: string };
}
interface MemberPath {
  Params: { id: string; uid: string };
}
export function memberRoutes(app: FastifyInstance, db: Database, record: Record): void {
  app.post<OrgPath>('/api/orgs/:id/members', async (request, reply) => {
    const caller = authenticate(request.headers.authorization);
    const orgId = request.params.id;
    const input = await checked(db, orgId, caller.userId, () => {
      const body = objectBody(request.body);
      return { email: email(body), role: oneOf(body, 'role', ['member', 'admin']) };
    });
    const added = { orgId, callerId: caller.userId, ...input };
    const userId = await record
      .change(
        (tx) => sql.insertMember(tx, added, Date.now()),
        (id) =>
          id === undefined
            ? []
            : [about(caller, 'member.added', orgId, id, { role: input.role, via: 'added' })],
      )
      .catch(rethrowAsMember);
    if (userId === undefined) throw await additionError(db, orgId, caller.userId, input.email);
    const member = { userId, role: input.role };
    return reply.code(201).send({ member });
  });

  app.patch<MemberPath>('/api/orgs/:id/members/:uid', async (request) => {
    const caller = authenticate(request.headers.authorization);
    const { id: orgId, uid } = request.params;
    const role = await checked(db, orgId, caller.userId, () =>
      oneOf(objectBody(request.body), 'role', ['member', 'admin', 'owner']),
    );
    const changed = await record.change(
      (tx) => sql.updateRole(tx, orgId, caller.userId, uid, role),
      (rows) => (rows === 0 ? [] : [about(caller, 'member.role_changed', orgId, uid, { to: role })]),
    );
    if (changed === 0) {
      throw await changeError(db, orgId, caller.userId, uid, role);
    }
    return { member: { userId: uid, role } };
  });

  app.delete<MemberPath>('/api/orgs/:id/members/:uid', async (request) => {
    const caller = authenticate(request.headers.authorization);
    const { id: orgId, uid } = request.params;
    const removed = await record.change(
      (tx) => sql.deleteMember(tx, orgId, caller.userId, uid),
      (rows) => (rows === 0 ? [] : [about(caller, 'member.removed', orgId, uid, { reason: 'removed' })]),
    );
    if (removed === 0) {
      throw await changeError(db, orgId, caller.userId, uid);
    }
    return { ok: true };
  });
}

function about(
  { userId: actorId, sessionId }: Caller,
  type: string,
  orgId: string,
  userId: string,
  data: object,
): NewEvent {
  return { type, actorId, sessionId, orgId, userId, data };
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

async function additionError(
  db: Database,
  orgId: string,
  callerId: string,
  address: string,
): Promise<Problem> {
  const org = await sql.findOrg(db, orgId, callerId);
  if (!org) return orgNotFound();
  requireAdmin(org.role ?? undefined);
  const user = await sql.findUserAtLimit(db, address);
  if (!user) return new Problem(404, 'user_not_found', 'Nobody has registered with this e-mail.');
  if (user.atLimit === null) return conflict();
  return new Problem(
    409,
    'user_has_too_many_orgs',
    'The user has reached the maximum number of organizations.',
  );
}

/** Without a role it was a removal. */
async function changeError(
  db: Database,
  orgId: string,
  callerId: string,
  targetId: string,
  to?: string,
): Promise<Problem> {
  if (!(await sql.findOrg(db, orgId, callerId))) return orgNotFound();
  const rows = await sql.findRoles(db, orgId, callerId, targetId);
  const actorRole = requireAdmin(rows.find((row) => row.userId === callerId)?.role);
  const targetRole = rows.find((row) => row.userId === targetId)?.role;
  if (targetRole === undefined) return new Problem(404, 'member_not_found', 'There is no such member.');
  if (actorRole !== 'owner' && (targetRole === 'owner' || to === 'owner'))
    return roleTooLow('owner', actorRole);
  if (targetRole === 'owner' && to !== 'owner' && rows.filter((row) => row.role === 'owner').length === 1) {
    return new Problem(409, 'last_owner', 'An organization must keep at least one owner.');
  }
  return conflict();
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
