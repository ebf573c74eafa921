import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { type Database, DuplicateError } from './db.ts';
import { email, objectBody, oneOf, text } from './input.ts';
import { Problem } from './problems.ts';
import type { Record } from './record.ts';
import * as sql from './invitation-statements.ts';
import { authenticate } from './tokens.ts';

const INVITATION_TTL_MS = 7 * 86_400_000;

/** Invitations whose code is shown: enough to compare an invitation and its acceptance. */
export function invitationRoutes(app: FastifyInstance, db: Database, record: Record): void {
  app.post<{ Params: { id: string } }>('/api/orgs/:id/invitations', async (request, reply) => {
    const caller = authenticate(request.headers.authorization);
    const body = objectBody(request.body);
    const input = { email: email(body), role: oneOf(body, 'role', ['member', 'admin']) };
    const inviter = await sql.findInviter(db, request.params.id, caller.userId, input.email);
    if (!inviter || inviter.role === 'member') throw new Problem(403, 'insufficient_role', 'Not allowed.');
    if (inviter.memberId !== null) throw new Problem(409, 'already_member', 'Already a member.');
    const now = Date.now();
    const code = randomBytes(8).toString('base64url');
    const invitation = { id: randomUUIDv7(), orgId: request.params.id, ...input, invitedBy: caller.userId };
    const times = { createdAt: now, expiresAt: now + INVITATION_TTL_MS };
    const event = { type: 'invitation.created', actorId: caller.userId, sessionId: caller.sessionId };
    await record
      .change(
        (tx) => sql.insertInvitation(tx, { ...invitation, ...times, codeHash: hash(code) }),
        () => [{ ...event, orgId: request.params.id, data: { id: invitation.id, role: input.role } }],
      )
      .catch(rethrow);
    return reply.code(201).send({
      invitation: {
        id: invitation.id,
        ...input,
        status: 'pending',
        createdAt: new Date(times.createdAt).toISOString(),
        expiresAt: new Date(times.expiresAt).toISOString(),
        invitedBy: { userId: caller.userId, email: inviter.email },
        code,
      },
    });
  });

  app.post<{ Params: { id: string } }>('/api/me/invitations/:id/accept', async (request) => {
    const { userId, sessionId } = authenticate(request.headers.authorization);
    const { id } = request.params;
    const codeHash = hash(text(objectBody(request.body), 'code'));
    return db.transaction(async (tx) => {
      const now = Date.now();
      if ((await sql.acceptInvitation(tx, { id, userId, codeHash, now })) === 0) {
        throw new Problem(400, 'invalid_invitation_code', 'The code is wrong, or the invitation has ended.');
      }
      await sql.insertInvited(tx, id, userId, now);
      const { orgId, name, role } = await sql.findAccepted(tx, id);
      const by = { actorId: userId, sessionId, orgId, userId };
      await record.write(tx, [
        { ...by, type: 'invitation.accepted', data: { id } },
        { ...by, type: 'member.added', data: { role, via: 'invitation' } },
      ]);
      return { org: { id: orgId, name }, role };
    });
  });
}

function hash(code: string): string {
  return createHash('sha256').update(code).digest('base64url');
}

function rethrow(error: unknown): never {
  if (!(error instanceof DuplicateError)) throw error;
  throw new Problem(409, 'already_invited', 'There is a pending invitation.');
}
