import type { Random } from '../../faults/support/random.js';
import { asRecord, asRecords, asString, type Reply } from '../../support/service-client.js';
import type { DetailRead, InvitationListRead, ListedMember, LogRead, MemberListRead } from '../history.js';
import type { Recorder } from './recorder.js';
import { type Person, revisionOf, type Team } from './team.js';

const INVITATIONS = 100;
const EVENTS = 20;

export type OrgReadKind = 'detail' | 'members' | 'invitations' | 'log';

/** Reads the team's organization as one of its people. */
export async function readOrg(
  kind: OrgReadKind,
  recorder: Recorder,
  random: Random,
  { orgId }: Team,
  { id: readerId, token }: Person,
): Promise<void> {
  const path = `/api/orgs/${orgId}`;
  const about = { orgId, readerId };
  const get = (suffix: string) => ({ method: 'GET', path: path + suffix, token });
  switch (kind) {
    case 'detail':
      await recorder.record<DetailRead>(random, { ...about, kind }, get(''), (reply) => {
        const org = asRecord(reply.body['org']);
        const seen = { name: asString(org['name']), members: membersIn(org), body: JSON.stringify(org) };
        return { seen: { ...seen, revision: revisionOf(reply) } };
      });
      return;
    case 'members':
      await recorder.record<MemberListRead>(random, { ...about, kind }, get('/members'), ({ body }) => ({
        seen: { members: membersIn(body) },
      }));
      return;
    case 'invitations':
      await recorder.record<InvitationListRead>(
        random,
        { ...about, kind, limit: INVITATIONS },
        get(`/invitations?limit=${INVITATIONS}`),
        ({ body }) => ({ seen: { invitations: invitationsIn(body) } }),
      );
      return;
    case 'log':
      await recorder.record<LogRead>(
        random,
        { ...about, kind, limit: EVENTS },
        get(`/events?limit=${EVENTS}`),
        ({ body }) => ({
          seen: {
            events: asRecords(body['events']).map((event) => ({
              id: asString(event['id']),
              revision: Number(event['orgRevision']),
            })),
          },
        }),
      );
  }
}

function membersIn(body: Record<string, unknown>): ListedMember[] {
  return asRecords(body['members']).map((member) => ({
    userId: asString(member['userId']),
    role: asString(member['role']),
  }));
}

function invitationsIn(body: Reply['body']): { id: string; status: string }[] {
  return asRecords(body['invitations']).map((one) => ({
    id: asString(one['id']),
    status: asString(one['status']),
  }));
}
