import { times } from '../../support/at-once.js';
import type { Role } from '../../support/personas.js';
import {
  asRecord,
  asRecords,
  asString,
  type Reply,
  type RequestOptions,
} from '../../support/service-client.js';
import type {
  DetailRead,
  Effect,
  InvitationListRead,
  ListedMember,
  LogRead,
  MemberListRead,
  OrgChange,
} from '../history.js';
import type { Client, Person, Request } from './client.js';

const GUESTS = 3;
const INVITATIONS = 100;
const EVENTS = 20;
const LOW_ROLES: readonly Role[] = ['member', 'admin'];

interface OpenInvitation {
  id: string;
  code: string;
  /** undefined: an email without an account */
  guest: Person | undefined;
}

/** An organization and the people who change and read it. Owners stay; guests come and go. */
export interface Team {
  orgId: string;
  owners: [Person, Person];
  guests: Person[];
  /** as far as clients were told: some may have ended */
  invitations: OpenInvitation[];
}

/** To be called before any fault: it needs every answer. */
export async function aTeam(client: Client, name: string): Promise<Team> {
  const people: Person[] = [];
  for (const role of ['owner-1', 'owner-2', ...times(GUESTS, (index) => `guest-${index}`)])
    people.push(required(await client.register(`${role}.${name}`)));
  const [first, second, ...guests] = people as [Person, Person, ...Person[]];

  const effect = { type: 'org.created', name } as const;
  const orgIn = ({ body }: Reply): string => asString(asRecord(body['org'])['id']);
  const created = await client.record<OrgChange>(
    { kind: 'change', orgId: '', actorId: first.id, effect },
    ['POST', '/api/orgs', { token: first.token, body: { name } }],
    (reply) => ({ orgId: orgIn(reply), revision: revisionOf(reply) }),
  );
  const orgId = orgIn(required(created));
  const team: Team = { orgId, owners: [first, second], guests, invitations: [] };
  required(await changeOrg(client, team, first, addition(second, 'admin')));
  required(await changeOrg(client, team, first, roleChange(second, 'owner')));
  return team;
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a request of the preparation was rejected');
  return value;
}

/** `path` is below the organization's, unless it is absolute. */
type Change = [effect: Effect, method: string, path: string, options?: RequestOptions];

/** A change of the team's organization by one of its people. */
function changeOrg(
  client: Client,
  { orgId }: Team,
  { id: actorId, token }: Person,
  [effect, method, path, options]: Change,
): Promise<Reply | undefined> {
  const absolute = path.startsWith('/api') ? path : `/api/orgs/${orgId}${path}`;
  const description = { kind: 'change', orgId, actorId, effect } as const;
  return client.record<OrgChange>(description, [method, absolute, { ...options, token }], (reply) => ({
    ...(reply.etag !== null && { revision: revisionOf(reply) }),
    ...(effect.type === 'invitation.created' && {
      effect: { ...effect, invitationId: asString(asRecord(reply.body['invitation'])['id']) },
    }),
  }));
}

const addition = ({ id, email }: Person, role: Role): Change => [
  { type: 'member.added', userId: id, role },
  'POST',
  '/members',
  { body: { email, role } },
];

const roleChange = ({ id }: Person, role: Role): Change => [
  { type: 'member.role_changed', userId: id, role },
  'PATCH',
  `/members/${id}`,
  { body: { role } },
];

/** Also of a guest who leaves. */
const removal = ({ id }: Person): Change => [
  { type: 'member.removed', userId: id },
  'DELETE',
  `/members/${id}`,
];

function revisionOf({ etag }: Reply): number {
  return Number(etag?.replaceAll('"', ''));
}

/** Reads the team's organization as one of its people. */
export async function readOrg(
  kind: 'detail' | 'members' | 'invitations' | 'log',
  client: Client,
  { orgId }: Team,
  { id: readerId, token }: Person,
): Promise<void> {
  const about = { orgId, readerId };
  const get = (suffix: string): Request => ['GET', `/api/orgs/${orgId}${suffix}`, { token }];
  if (kind === 'detail') {
    await client.record<DetailRead>({ ...about, kind }, get(''), (reply) => {
      const org = asRecord(reply.body['org']);
      const seen = { name: asString(org['name']), members: membersIn(org), body: JSON.stringify(org) };
      return { seen: { ...seen, revision: revisionOf(reply) } };
    });
  } else if (kind === 'members') {
    await client.record<MemberListRead>({ ...about, kind }, get('/members'), ({ body }) => ({
      seen: { members: membersIn(body) },
    }));
  } else if (kind === 'invitations') {
    const description = { ...about, kind, limit: INVITATIONS };
    const request = get(`/invitations?limit=${INVITATIONS}`);
    await client.record<InvitationListRead>(description, request, ({ body }) => {
      const listed = asRecords(body['invitations']);
      const invitations = listed.map(({ id, status }) => ({ id: asString(id), status: asString(status) }));
      return { seen: { invitations } };
    });
  } else {
    const request = get(`/events?limit=${EVENTS}`);
    await client.record<LogRead>({ ...about, kind, limit: EVENTS }, request, ({ body }) => {
      const listed = asRecords(body['events']);
      const events = listed.map((event) => ({
        id: asString(event['id']),
        revision: Number(event['orgRevision']),
      }));
      return { seen: { events } };
    });
  }
}

function membersIn(body: Record<string, unknown>): ListedMember[] {
  const members = asRecords(body['members']);
  return members.map(({ userId, role }) => ({ userId: asString(userId), role: asString(role) }));
}

export type Step = () => Promise<unknown>;

/** An owner who changes the organization in every way. */
export function anOwner(client: Client, team: Team, owner: Person): Step {
  const { random } = client;
  let count = 0;
  const guest = (): Person => random.pick(team.guests);
  const change = (...made: Change) => changeOrg(client, team, owner, made);
  const body = { showCode: true };

  const rename = () => {
    const name = `Team ${owner.id.slice(-6)} ${(count += 1)}`;
    return change({ type: 'org.renamed', name }, 'PATCH', '', { body: { name } });
  };
  const keep = (invited: Person | undefined, reply: Reply | undefined): void => {
    if (!reply) return;
    const { id, code } = asRecord(reply.body['invitation']);
    team.invitations.push({ id: asString(id), code: asString(code), guest: invited });
  };
  const invite = async (invited?: Person): Promise<void> => {
    const email = invited?.email ?? `invited-${(count += 1)}.${owner.email}`;
    const role = random.pick(LOW_ROLES);
    const options = { body: { ...body, email, role } };
    keep(invited, await change({ type: 'invitation.created', role }, 'POST', '/invitations', options));
  };
  /** Takes an invitation out of the list, so that no other client works on it. */
  const taken = (): OpenInvitation | undefined =>
    team.invitations.splice(random.between(0, Math.max(0, team.invitations.length - 1)), 1)[0];
  const resend = async (): Promise<void> => {
    const one = taken();
    if (!one) return;
    const effect = { type: 'invitation.resent', invitationId: one.id } as const;
    keep(one.guest, await change(effect, 'POST', `/invitations/${one.id}/resend`, { body }));
  };
  const revoke = async (): Promise<void> => {
    const one = taken();
    if (!one) return;
    await change({ type: 'invitation.revoked', invitationId: one.id }, 'DELETE', `/invitations/${one.id}`);
  };
  const add = () => change(...addition(guest(), random.pick(LOW_ROLES)));
  const remove = () => change(...removal(guest()));
  const changeRole = () => change(...roleChange(guest(), random.pick(LOW_ROLES)));
  const rare: Step[] = [changeRole, () => invite(guest()), resend];
  const often: Step[] = [add, remove, revoke];
  const most: Step[] = [rename, () => invite()];
  const steps = [...rare, ...often, ...often, ...most, ...most, ...most];
  return () => random.pick(steps)();
}

/** A guest who reads the organization all the time, joins by invitations, and leaves. */
export function aGuest(client: Client, team: Team, guest: Person): Step {
  const { random } = client;
  return () => {
    const turn = random.between(0, 19);
    if (turn === 0) return changeOrg(client, team, guest, removal(guest));
    const own = team.invitations.findIndex((one) => one.guest === guest);
    if (turn > 3 || own < 0) return readOrg(random.pick(['detail', 'members']), client, team, guest);
    const { id, code } = team.invitations.splice(own, 1)[0]!;
    const isAccepted = random.between(0, 2) > 0;
    const type = isAccepted ? 'invitation.accepted' : 'invitation.declined';
    const path = `/api/me/invitations/${isAccepted ? 'accept' : 'decline'}`;
    return changeOrg(client, team, guest, [{ type, invitationId: id }, 'POST', path, { body: { code } }]);
  };
}

/** Reads as an owner, above all what only admins and owners may read. */
export function aLister(client: Client, team: Team): Step {
  const invitations = times(4, () => 'invitations' as const);
  const kinds = [...invitations, 'log', 'detail', 'members'] as const;
  return () => readOrg(client.random.pick(kinds), client, team, client.random.pick(team.owners));
}
