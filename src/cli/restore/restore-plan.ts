import { type Role, roleAtLeast, type ServiceScope } from '../../access/principal.js';
import type { Provider } from '../../auth/providers/providers.repository.js';
import type { Invitation, Org } from '../../orgs/state/org.entity.js';
import { storedScopes } from '../../services/service-secrets.js';
import type { Service } from '../../services/services.repository.js';
import type { UserView } from '../../users/user-view.js';
import { identityKey, type LostEvent, type LostEvents, type LostType, roleKey } from './lost-events.js';

export type KnownService = Pick<Service, 'allow' | 'disabledAt' | 'removedAt'> & {
  liveSecrets: readonly string[];
  /** names of the services that it may call */
  calls: readonly string[];
};

/** What the restored database has. Roles have the key of `roleKey`. */
export interface RestoredFacts {
  users: ReadonlyMap<string, Pick<UserView, 'email' | 'disabledAt' | 'operatorSince' | 'emailVerifiedAt'>>;
  orgs: ReadonlyMap<string, Pick<Org, 'name' | 'deletedAt' | 'secondFactorFrom'>>;
  roles: ReadonlyMap<string, Role>;
  invitations: ReadonlyMap<string, Pick<Invitation, 'email' | 'status'>>;
  services: ReadonlyMap<string, KnownService>;
  /** by name */
  providers: ReadonlyMap<string, Pick<Provider, 'createdAt' | 'disabledAt'>>;
  /** with the key of `identityKey` */
  identities: ReadonlySet<string>;
  /** ids of API keys */
  apiKeys: ReadonlySet<string>;
}

export type Repeatable =
  | 'user disabled'
  | 'user deleted'
  | 'operator revoked'
  | 'member removed'
  | 'role lowered'
  | 'organization deleted'
  | 'invitation revoked'
  | 'API key revoked'
  | 'identity unlinked'
  | 'provider disabled'
  | 'provider removed'
  | 'service disabled'
  | 'service removed'
  | 'scopes of a service revoked'
  | 'secret of a service revoked'
  | 'call of a service revoked';

interface UndoneChange {
  event: LostEvent;
  /** that the database has of the user or the invited person */
  email: string | undefined;
  orgName: string | undefined;
}

interface Repetition {
  group: 'repeat';
  what: Repeatable;
  role?: Role;
  scopes?: ServiceScope[];
}

interface Note {
  group: 'act' | 'lost';
  what: string;
}

export type RepeatableLine = UndoneChange & Repetition;

export type PlanLine = UndoneChange & (Repetition | Note);

/** Compares what the event says with what the database has. */
export function planLine(event: LostEvent, lost: LostEvents, facts: RestoredFacts): PlanLine | undefined {
  const { type, orgId, userId, invitationId, service, keyId } = event;
  const end = (subject: string, id: string | null = ''): LostType | undefined =>
    lost.get(`${subject} ${id}`)?.type;
  // A deletion takes along everything but invitations.
  const isGone = userId !== null && end('access', userId) === 'account.deleted';
  if (isGone && type !== 'account.deleted' && invitationId === undefined) return undefined;
  const removal = lost.get(`removal ${event.provider}`);
  const provider = facts.providers.get(event.provider ?? '');
  const isRemoved =
    removal !== undefined && provider !== undefined && provider.createdAt < Date.parse(removal.at);
  const found = CONSEQUENCES[type]({
    event,
    user: facts.users.get(userId ?? ''),
    org: facts.orgs.get(orgId ?? ''),
    present: facts.roles.get(roleKey(orgId, userId)),
    service: facts.services.get(service ?? ''),
    // Other events may be about a later provider of this name.
    provider: isRemoved === (type === 'provider.removed') ? provider : undefined,
    isLinked: !isRemoved && facts.identities.has(identityKey(userId, event.provider)),
    hasApiKey: facts.apiKeys.has(keyId ?? ''),
    isPending: facts.invitations.get(invitationId ?? '')?.status === 'pending',
    end: end('life', service ?? orgId),
    isRemovedLater: removal !== undefined && removal.id > event.id,
    membership: lost.get(`membership ${roleKey(orgId, userId)}`),
  });
  if (!found) return undefined;
  const person = type === 'org.second_factor_required' ? event.actorId : userId;
  const email = facts.invitations.get(invitationId ?? '')?.email ?? facts.users.get(person ?? '')?.email;
  return { ...found, event, email, orgName: facts.orgs.get(orgId ?? '')?.name };
}

interface Situation {
  event: LostEvent;
  user: RestoredFacts['users'] extends ReadonlyMap<string, infer User> ? User | undefined : never;
  org: RestoredFacts['orgs'] extends ReadonlyMap<string, infer Known> ? Known | undefined : never;
  /** role that the database has */
  present: Role | undefined;
  service: KnownService | undefined;
  provider: RestoredFacts['providers'] extends ReadonlyMap<string, infer Known> ? Known | undefined : never;
  isLinked: boolean;
  hasApiKey: boolean;
  isPending: boolean;
  /** whether the provider was */
  isRemovedLater: boolean;
  /** last lost event about the life of the organization or service */
  end: LostType | undefined;
  membership: LostEvent | undefined;
}

type Consequence = Repetition | Note | false | undefined;

const repeat = (what: Repeatable) => ({ group: 'repeat', what }) as const;
const act = (what: string) => ({ group: 'act', what }) as const;
const given = (what: string) => ({ group: 'lost', what }) as const;

const CONSEQUENCES: Record<LostType, (situation: Situation) => Consequence> = {
  'account.registered': ({ user }) => !user && given('user registered'),
  'account.disabled': ({ user }) => user?.disabledAt === null && repeat('user disabled'),
  'account.enabled': ({ user }) => user && user.disabledAt !== null && given('user enabled'),
  'account.deleted': ({ user }) => user && repeat('user deleted'),
  'account.operator_granted': ({ user }) => user?.operatorSince === null && given('operator granted'),
  'account.operator_revoked': ({ user }) => user && user.operatorSince !== null && repeat('operator revoked'),
  'account.password_changed': ({ user }) => user && act('password changed'),
  'account.second_factor_enabled': ({ user }) => user && act('second factor turned on'),
  'account.second_factor_removed': ({ user }) => user && act('second factor turned off'),
  'account.recovery_codes_renewed': ({ user }) => user && act('recovery codes renewed'),
  'account.recovery_code_used': ({ user }) => user && act('recovery code used'),
  'account.email_changed': ({ user }) => user && act('email changed'),
  'account.email_verified': ({ user }) => user?.emailVerifiedAt === null && given('email verified'),
  'account.identity_linked': ({ user, isLinked }) => user && !isLinked && given('identity linked'),
  'account.identity_unlinked': ({ isLinked }) => isLinked && repeat('identity unlinked'),
  'org.created': ({ org, end }) =>
    !org && end !== 'org.deleted' && end !== 'org.purged' && given('organization created'),
  'org.deleted': ({ org }) => org?.deletedAt === null && repeat('organization deleted'),
  'org.purged': ({ org }) => org?.deletedAt === null && repeat('organization deleted'),
  'org.restored': ({ org }) => org && org.deletedAt !== null && given('organization restored'),
  'org.second_factor_required': ({ org, event: { requiredFrom = null } }) =>
    org &&
    org.secondFactorFrom !== requiredFrom &&
    act(requiredFrom === null ? 'second factor no longer required' : 'second factor required'),
  'member.added': memberConsequence,
  'member.role_changed': memberConsequence,
  'member.removed': ({ present }) => present && repeat('member removed'),
  'invitation.created': ({ isPending }) => !isPending && given('invitation sent'),
  'invitation.resent': ({ isPending }) => !isPending && given('invitation sent'),
  'invitation.revoked': ({ isPending }) => isPending && repeat('invitation revoked'),
  'invitation.declined': () => undefined,
  // The user could accept it again, and get back what was taken from them since.
  'invitation.accepted': ({ isPending, membership, event }) =>
    isPending && membership && hasLess(membership, event.role!) && repeat('invitation revoked'),
  'key.created': ({ user, hasApiKey }) => user && !hasApiKey && given('API key made'),
  'key.revoked': ({ hasApiKey }) => hasApiKey && repeat('API key revoked'),
  'service.created': ({ service, end }) => !service && end !== 'service.removed' && given('service added'),
  'service.disabled': ({ service }) => service?.disabledAt === null && repeat('service disabled'),
  'service.enabled': ({ service }) => isDisabled(service) && given('service enabled'),
  'service.removed': ({ service }) => service?.removedAt === null && repeat('service removed'),
  'service.allowed': ({ service, event: { scopes = [] } }) => {
    if (service?.removedAt !== null) return undefined;
    const present = storedScopes(service.allow);
    const kept = present.filter((scope) => scopes.includes(scope));
    if (kept.length < present.length) return { ...repeat('scopes of a service revoked'), scopes: kept };
    return kept.length < scopes.length && given('scopes of a service added');
  },
  'service.secret_added': ({ service, event }) =>
    service?.removedAt === null && !hasSecret(service, event) && given('secret of a service added'),
  'service.secret_revoked': ({ service, event }) =>
    service && hasSecret(service, event) && repeat('secret of a service revoked'),
  'service.call_allowed': ({ service, event }) =>
    service?.removedAt === null && !mayCall(service, event) && given('call of a service allowed'),
  'service.call_revoked': ({ service, event }) =>
    service && mayCall(service, event) && repeat('call of a service revoked'),
  'provider.added': ({ provider, isRemovedLater }) => !provider && !isRemovedLater && given('provider added'),
  'provider.disabled': ({ provider }) => provider?.disabledAt === null && repeat('provider disabled'),
  'provider.enabled': ({ provider }) => provider && provider.disabledAt !== null && given('provider enabled'),
  'provider.removed': ({ provider }) => provider && repeat('provider removed'),
};

function memberConsequence({ event, present }: Situation): Consequence {
  if (present === undefined) return given('member added');
  if (present === event.role) return undefined;
  return hasLess(event, present) ? { ...repeat('role lowered'), role: event.role! } : given('role raised');
}

function hasLess({ type, role }: LostEvent, than: Role): boolean {
  return type === 'member.removed' || !roleAtLeast(role!, than);
}

function isDisabled(service: KnownService | undefined): boolean {
  return service !== undefined && service.disabledAt !== null && service.removedAt === null;
}

function hasSecret({ liveSecrets }: KnownService, { secretId = '' }: LostEvent): boolean {
  return liveSecrets.includes(secretId);
}

function mayCall({ calls }: KnownService, { callee = '' }: LostEvent): boolean {
  return calls.includes(callee);
}
