import { randomUUIDv7 } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Database } from './db.ts';
import { objectBody, orgName } from './input.ts';
import { Problem, unauthorized } from './problems.ts';
import type { Record } from './record.ts';
import * as sql from './statements.ts';
import { authenticate } from './tokens.ts';

interface OrgPath {
  Params: { id: string };
}

export function orgRoutes(app: FastifyInstance, db: Database, record: Record): void {
  app.get('/api/me', async (request) => {
    const caller = authenticate(request.headers.authorization);
    const rows = await sql.findUserWithOrgs(db, caller.userId);
    const [user] = rows;
    if (!user) throw unauthorized(true);
    const orgs = rows
      .filter((row) => row.orgId !== null)
      .map((row) => ({ id: row.orgId, name: row.orgName }));
    return { user: { id: user.id, email: user.email }, orgs };
  });

  app.post('/api/orgs', async (request, reply) => {
    const caller = authenticate(request.headers.authorization);
    const org = { id: randomUUIDv7(), name: orgName(objectBody(request.body)) };
    const now = Date.now();
    await db.transaction(async (tx) => {
      await sql.insertOrg(tx, org, now);
      if ((await sql.insertOwner(tx, org.id, caller.userId, now)) === 0) {
        throw new Problem(409, 'too_many_orgs', 'You have reached the maximum number of organizations.');
      }
      const by = { actorId: caller.userId, sessionId: caller.sessionId, orgId: org.id };
      const owner = { userId: caller.userId, data: { role: 'owner', via: 'created' } };
      await record.write(tx, [
        { ...by, type: 'org.created' },
        { ...by, ...owner, type: 'member.added' },
      ]);
    });
    return reply.code(201).send({ org });
  });

  app.get<OrgPath>('/api/orgs/:id', async (request) => {
    const caller = authenticate(request.headers.authorization);
    const { id } = request.params;
    const rows = await sql.listMembers<{ name: string }>(db, id, caller.userId, 'o.name, ');
    const { name } = readable(rows);
    return { org: { id, name, members: rows.map(member) } };
  });

  app.get<OrgPath>('/api/orgs/:id/members', async (request) => {
    const caller = authenticate(request.headers.authorization);
    const rows = await sql.listMembers(db, request.params.id, caller.userId, '');
    readable(rows);
    return { members: rows.map(member) };
  });
}

/** The first row of a list that the caller may read. */
function readable<Row extends { callerRole: string | null }>([first]: Row[]): Row {
  if (!first) throw new Problem(404, 'org_not_found', 'There is no such organization.');
  if (first.callerRole === null) {
    throw new Problem(403, 'not_a_member', 'You are not a member of this organization.');
  }
  return first;
}

function member({ userId, email, role }: sql.MemberRow): sql.MemberRow {
  return { userId, email, role };
}
