import type { Role } from '../../access/principal.js';
import { ApiKeysRepository } from '../../api-keys/api-keys.repository.js';
import { IdentitiesRepository } from '../../auth/providers/identities.repository.js';
import { type Provider, ProvidersRepository } from '../../auth/providers/providers.repository.js';
import { EventsRepository, LATEST } from '../../events/events.repository.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { InvitationListsRepository } from '../../orgs/state/invitations.lists.js';
import { MembershipsRepository } from '../../orgs/state/members.memberships.js';
import { OrgsRepository } from '../../orgs/state/orgs.repository.js';
import { RefusedError } from '../../problems/problem.js';
import { ServiceCallsRepository } from '../../services/service-calls.repository.js';
import { ServiceSecretsRepository } from '../../services/service-secrets.repository.js';
import { ServicesRepository } from '../../services/services.repository.js';
import { UsersRepository } from '../../users/users.repository.js';
import type { Context } from '../command/context.js';
import type { Invocation } from '../command/definition.js';
import { copiedEvent, type CopiedEvent, readCopy } from '../events/event-copy.js';
import {
  identityKey,
  keyOf,
  type LostEvent,
  lostEventOf,
  type LostEvents,
  noteLost,
  notePresent,
  roleKey,
} from './lost-events.js';
import type { RestoredFacts, KnownService } from './restore-plan.js';

const PAGE = 500;

/** Holds only the last event about each subject. @throws RefusedError if the database has no event of the copies */
export async function findLost(context: Context, invocation: Invocation): Promise<LostEvents> {
  const events = context.get(EventsRepository);
  const oldest = (await events.findOldestId()) ?? LATEST;
  const lost: LostEvents = new Map();
  let hasCommon = false;
  let last = '';
  let count = 0;
  for (const file of invocation.texts('since')) {
    for await (const page of pagesOf(readCopy(file))) {
      count += page.length;
      invocation.showProgress(`${count} events`);
      // The database has deleted older events by EVENTS_RETENTION.
      const younger = page.filter(({ id }) => id >= oldest);
      const changes = younger.flatMap((event) => lostEventOf(event) ?? []);
      const asked: { id: string }[] = hasCommon ? changes : younger;
      const present = new Set(await events.findPresent(asked.map(({ id }) => id)));
      hasCommon ||= present.size > 0;
      for (const event of changes) (present.has(event.id) ? notePresent : noteLost)(lost, event);
      for (const { id } of page) if (id > last) last = id;
    }
  }
  if (!hasCommon)
    throw new RefusedError('the database has no event of these copies: they belong to another installation');
  await forgetLater(events, lost, last);
  return lost;
}

async function* pagesOf(copy: AsyncIterable<{ event: CopiedEvent }>): AsyncGenerator<CopiedEvent[]> {
  let page: CopiedEvent[] = [];
  for await (const { event } of copy) {
    page.push(event);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** What has happened since the restore counts more than what happened before it. */
async function forgetLater(events: EventsRepository, lost: LostEvents, from: string): Promise<void> {
  for (let before = LATEST; ;) {
    const page = await events.findLatest({ from, before }, PAGE);
    for (const row of page) {
      const event = lostEventOf(copiedEvent(row));
      if (event) lost.delete(keyOf(event));
    }
    if (page.length < PAGE) return;
    before = page.at(-1)!.id;
  }
}

export async function factsOf(context: Context, events: readonly LostEvent[]): Promise<RestoredFacts> {
  const ids = (name: 'userId' | 'actorId' | 'orgId' | 'invitationId' | 'keyId'): string[] => [
    ...new Set(events.map((event) => event[name]).filter(isEntityId)),
  ];
  const users = await context.get(UsersRepository).findAll([...ids('userId'), ...ids('actorId')]);
  const orgs = await context.get(OrgsRepository).findAll(ids('orgId'));
  const invitations = await context.get(InvitationListsRepository).findAll(ids('invitationId'));
  const roles = new Map<string, Role>();
  const members = events.filter(({ type }) => type.startsWith('member.')).map(({ userId }) => userId!);
  for (const userId of new Set(members)) {
    const memberships = await context.get(MembershipsRepository).findOrgsEvenDeleted(userId);
    for (const { id, role } of memberships) roles.set(roleKey(id, userId), role);
  }
  const providers = new Map<string, Provider>();
  const identities = new Set<string>();
  for (const { provider: name, userId } of events) {
    if (name === undefined) continue;
    const provider = await context.get(ProvidersRepository).find(name);
    if (provider) providers.set(name, provider);
    const linked = userId === null ? [] : await context.get(IdentitiesRepository).listOfUser(userId);
    for (const identity of linked) identities.add(identityKey(userId, identity.name));
  }
  const apiKeys = new Set(await context.get(ApiKeysRepository).findPresent(ids('keyId')));
  const services = new Map<string, KnownService>();
  for (const name of new Set(events.flatMap((event) => event.service ?? []))) {
    const service = await context.get(ServicesRepository).find(name);
    const secrets = await context.get(ServiceSecretsRepository).findOf(name);
    const liveSecrets = secrets.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id);
    const { calls } = await context.get(ServiceCallsRepository).findNeighbours(name);
    if (service) services.set(name, { ...service, liveSecrets, calls });
  }
  const found = { users: byId(users), orgs: byId(orgs), invitations: byId(invitations) };
  return { ...found, roles, services, providers, identities, apiKeys };
}

function byId<Of extends { id: string }>(rows: readonly Of[]): Map<string, Of> {
  return new Map(rows.map((row) => [row.id, row]));
}
