import type { Random } from '../../faults/support/random.js';
import { times } from '../../support/at-once.js';
import type { Role } from '../../support/personas.js';
import { asRecord, asString, type Reply } from '../../support/service-client.js';
import type { Effect, OrgChange } from '../history.js';
import type { Recorder, Request } from './recorder.js';

const PASSWORD = 'correct horse battery staple';
const GUESTS = 3;

export interface Person {
  id: string;
  email: string;
  token: string;
}

export interface OpenInvitation {
  id: string;
  code: string;
  /** undefined: an email without an account */
  guest?: Person | undefined;
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
export async function aTeam(recorder: Recorder, random: Random, name: string): Promise<Team> {
  const people: Person[] = [];
  for (const role of ['owner-1', 'owner-2', ...times(GUESTS, (index) => `guest-${index}`)])
    people.push(required(await register(recorder, random, `${role}.${name}`)));
  const [first, second, ...guests] = people as [Person, Person, ...Person[]];

  const description = {
    kind: 'change',
    orgId: '',
    actorId: first.id,
    effect: { type: 'org.created', name },
  } as const;
  const request = { method: 'POST', path: '/api/orgs', token: first.token, body: { name } };
  const created = await recorder.record<OrgChange>(random, description, request, (reply) => ({
    orgId: asString(asRecord(reply.body['org'])['id']),
    revision: revisionOf(reply),
  }));
  const orgId = asString(asRecord(required(created).body['org'])['id']);

  const team: Team = { orgId, owners: [first, second], guests, invitations: [] };
  required(await changeOrg(recorder, random, team, first, addition(team, second, 'admin')));
  required(await changeOrg(recorder, random, team, first, roleChange(team, second, 'owner')));
  return team;
}

interface Change {
  effect: Effect;
  request: Request;
}

/** A change of the team's organization by one of its people. */
export function changeOrg(
  recorder: Recorder,
  random: Random,
  { orgId }: Team,
  { id: actorId, token }: Person,
  { effect, request }: Change,
): Promise<Reply | undefined> {
  const description = { kind: 'change', orgId, actorId, effect } as const;
  return recorder.record<OrgChange>(random, description, { ...request, token }, (reply) => {
    const created = asRecord(reply.body['invitation'])['id'];
    return {
      ...(reply.etag === null ? {} : { revision: revisionOf(reply) }),
      ...(effect.type === 'invitation.created'
        ? { effect: { ...effect, invitationId: asString(created) } }
        : {}),
    };
  });
}

export function addition({ orgId }: Team, { id, email }: Person, role: Role): Change {
  const request = { method: 'POST', path: `/api/orgs/${orgId}/members`, body: { email, role } };
  return { effect: { type: 'member.added', userId: id, role }, request };
}

export function roleChange({ orgId }: Team, { id }: Person, role: Role): Change {
  const request = { method: 'PATCH', path: `/api/orgs/${orgId}/members/${id}`, body: { role } };
  return { effect: { type: 'member.role_changed', userId: id, role }, request };
}

/** Also of a guest who leaves. */
export function removal({ orgId }: Team, { id }: Person): Change {
  const request = { method: 'DELETE', path: `/api/orgs/${orgId}/members/${id}` };
  return { effect: { type: 'member.removed', userId: id }, request };
}

export function revisionOf({ etag }: Reply): number {
  return Number(etag?.replaceAll('"', ''));
}

export async function register(
  recorder: Recorder,
  random: Random,
  name: string,
): Promise<(Person & { refreshToken: string; password: string }) | undefined> {
  const email = `${name}@example.com`;
  const body = { email, password: PASSWORD, refresh: true };
  const reply = await recorder.ask(random, { method: 'POST', path: '/api/auth/register', body });
  if (!reply) return undefined;
  const id = asString(asRecord(reply.body['user'])['id']);
  const token = asString(reply.body['token']);
  return { id, email, token, refreshToken: asString(reply.body['refreshToken']), password: PASSWORD };
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a request of the preparation was refused');
  return value;
}
