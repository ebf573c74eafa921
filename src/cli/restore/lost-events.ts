import { type Role, ROLES, type ServiceScope } from '../../access/principal.js';
import { isProviderName } from '../../auth/providers/provider-settings.js';
import { isEntityId, timeOfEntityId } from '../../identifiers/entity-id.js';
import { parseTime } from '../../identifiers/text.js';
import { isServiceName, typedScopes } from '../../services/service-secrets.js';
import { CannotRunError } from '../command/definition.js';
import type { CopiedEvent } from '../events/event-copy.js';

/** What an event is about. Of the events about one subject, only the last one counts. */
const SUBJECTS = {
  'account.registered': 'registration',
  'account.disabled': 'access',
  'account.enabled': 'access',
  'account.deleted': 'access',
  'account.operator_granted': 'operator',
  'account.operator_revoked': 'operator',
  'account.password_changed': 'password',
  'account.second_factor_enabled': 'factor',
  'account.second_factor_removed': 'factor',
  'account.recovery_codes_renewed': 'factor',
  'account.recovery_code_used': 'code',
  'account.email_changed': 'email',
  'account.email_verified': 'verification',
  'account.identity_linked': 'identity',
  'account.identity_unlinked': 'identity',
  'org.created': 'creation',
  'org.deleted': 'life',
  'org.restored': 'life',
  'org.purged': 'life',
  'org.second_factor_required': 'requirement',
  'member.added': 'membership',
  'member.role_changed': 'membership',
  'member.removed': 'membership',
  'invitation.created': 'invitation',
  'invitation.resent': 'invitation',
  'invitation.revoked': 'invitation',
  'invitation.accepted': 'invitation',
  'invitation.declined': 'invitation',
  'key.created': 'key',
  'key.revoked': 'key',
  'service.created': 'creation',
  'service.disabled': 'life',
  'service.enabled': 'life',
  'service.removed': 'life',
  'service.allowed': 'scopes',
  'service.call_allowed': 'call',
  'service.call_revoked': 'call',
  'service.secret_added': 'secret',
  'service.secret_revoked': 'secret',
  'provider.added': 'provider',
  'provider.disabled': 'provider',
  'provider.enabled': 'provider',
  // Apart, because another provider may have the name since.
  'provider.removed': 'removal',
} as const;

export type LostType = keyof typeof SUBJECTS;

export interface LostEvent extends Pick<CopiedEvent, 'id' | 'at' | 'orgId' | 'userId'> {
  type: LostType;
  actorId: string | null;
  revision: number;
  service?: string | undefined;
  /** that the service may call */
  callee?: string | undefined;
  provider?: string | undefined;
  secretId?: string | undefined;
  keyId?: string | undefined;
  invitationId?: string | undefined;
  /** of a member after the event, or of an invitation */
  role?: Role | undefined;
  scopes?: ServiceScope[] | undefined;
  /** time from which a second factor is required, or null */
  requiredFrom?: number | null | undefined;
}

/** By subject, in the order of the copies. */
export type LostEvents = Map<string, LostEvent>;

export const roleKey = (orgId: string | null, userId: string | null): string => `${orgId} ${userId}`;

export const identityKey = (userId: string | null, provider?: string): string => `${userId} ${provider}`;

/** Returns undefined if the event neither gives nor takes anything. @throws CannotRunError */
export function lostEventOf(event: CopiedEvent): LostEvent | undefined {
  const { id, at, orgId, userId, actor, data } = event;
  const type = event.type as LostType;
  if (!(type in SUBJECTS)) return undefined;
  const revision = event.orgRevision ?? event.userRevision ?? 0;
  const lost: LostEvent = { id, at, type, orgId, userId, actorId: actor.id, revision };
  const isWhole = readSubject(lost, data) && readChange(lost, data);
  if (!isWhole) throw new CannotRunError(`event ${id}: not a ${type} that this version knows`);
  return lost;
}

function readSubject(lost: LostEvent, data: Record<string, unknown>): boolean {
  const [about] = lost.type.split('.');
  const subject = SUBJECTS[lost.type];
  if (subject === 'identity' || about === 'provider') {
    lost.provider = data['provider'] as string;
    const isNamed = typeof lost.provider === 'string' && isProviderName(lost.provider);
    return isNamed && (about === 'provider' || lost.userId !== null);
  }
  if (about === 'account') return lost.userId !== null;
  if (about === 'member') return lost.orgId !== null && lost.userId !== null;
  if (about === 'key') {
    lost.keyId = data['keyId'] as string;
    return lost.userId !== null && isEntityId(lost.keyId);
  }
  if (about === 'service') {
    lost.service = data['service'] as string;
    return typeof lost.service === 'string' && isServiceName(lost.service);
  }
  if (about === 'invitation') lost.invitationId = data['invitationId'] as string;
  return lost.orgId !== null && (about === 'org' || isEntityId(lost.invitationId));
}

function readChange(lost: LostEvent, data: Record<string, unknown>): boolean {
  const { role, to, from, secretId } = data;
  const subject = SUBJECTS[lost.type];
  if (subject === 'membership' || subject === 'invitation') {
    lost.role = ROLES.find((one) => one === (lost.type === 'member.role_changed' ? to : role));
    return lost.role !== undefined;
  }
  if (subject === 'scopes') {
    lost.scopes = typeof to === 'string' ? typedScopes(to) : undefined;
    return lost.scopes !== undefined;
  }
  if (subject === 'call') {
    lost.callee = to as string;
    return typeof to === 'string' && isServiceName(to);
  }
  if (subject === 'requirement') {
    lost.requiredFrom = from === null ? null : parseTime(from);
    return lost.requiredFrom !== undefined;
  }
  if (subject === 'secret') lost.secretId = secretId as string;
  return subject !== 'secret' || isEntityId(secretId);
}

export function keyOf(event: LostEvent): string {
  const { type, orgId, userId, service, callee, provider, secretId, keyId, invitationId } = event;
  const subject = SUBJECTS[type];
  if (subject === 'call') return `${subject} ${service} ${callee}`;
  if (subject === 'identity') return `${subject} ${identityKey(userId, provider)}`;
  if (provider !== undefined) return `${subject} ${provider}`;
  if (subject === 'membership') return `${subject} ${roleKey(orgId, userId)}`;
  return `${subject} ${keyId ?? secretId ?? invitationId ?? service ?? orgId ?? userId}`;
}

export function noteLost(lost: LostEvents, event: LostEvent): void {
  const key = keyOf(event);
  const noted = lost.get(key);
  if (noted && !isLater(event, noted)) return;
  // Keeps the order of the copies.
  lost.delete(key);
  lost.set(key, event);
}

/** The database has this event, so it has what came of earlier ones about its subject, too. */
export function notePresent(lost: LostEvents, event: LostEvent): void {
  const noted = lost.get(keyOf(event));
  if (noted && isLater(event, noted)) lost.delete(keyOf(event));
}

const MAX_CLOCK_SKEW_MS = 60_000;

// Copies may be joined, and their lines out of order. Within the difference of two clocks, revisions tell the order. They
// start over from the backup after a restore, so events of different times are compared by time.
function isLater(event: LostEvent, than: LostEvent): boolean {
  const apartMs = Math.abs(timeOfEntityId(event.id) - timeOfEntityId(than.id));
  if (apartMs <= MAX_CLOCK_SKEW_MS && event.revision !== than.revision) return event.revision > than.revision;
  return event.id > than.id;
}
