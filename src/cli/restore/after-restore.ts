import { resolve } from 'node:path';
import { UserDeletion } from '../../accounts/user-deletion.js';
import { UserOperations } from '../../accounts/user-operations.js';
import type { OperatorActor } from '../../access/principal.js';
import { ApiKeysRepository } from '../../api-keys/api-keys.repository.js';
import { ApiKeyRevocations } from '../../api-keys/api-key-revocations.js';
import { countUnreadable } from '../../auth/tokens/re-encryption.js';
import { SessionRevocation } from '../../auth/sessions/session-revocation.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { Env } from '../../config/env.js';
import { inBatches } from '../../database/statements.js';
import { EventsRetention } from '../../events/events-retention.js';
import { MailsRepository } from '../../mail/mails.repository.js';
import { OperatedInvitations } from '../../orgs/invitations/invitations.service.js';
import { MembersService } from '../../orgs/members/members.service.js';
import { OperatedOrgs } from '../../orgs/operated-orgs.js';
import { OrgsRepository } from '../../orgs/state/orgs.repository.js';
import type { OrphanedOrg } from '../../orgs/state/user-memberships.js';
import { RefusedError } from '../../problems/problem.js';
import { ProviderChanges } from '../../auth/providers/provider-changes.js';
import { ServiceChanges } from '../../services/service-changes.js';
import { shownText, storedText } from '../../services/service-secrets.js';
import { type Context, withContext } from '../command/context.js';
import { secretStores } from '../data/key-changes.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';
import { explain } from '../command/explain.js';
import { type NamedOrphan, orphanedLine } from '../users/change-user.js';
import { type PlanLine, planLine, type Repeatable, type RepeatableLine } from './restore-plan.js';
import { factsOf, findLost } from './restored-database.js';

const UNKNOWN_CHANGES = [
  'without --since, the command cannot know what else the restore undid. Repeat it by hand:',
  '  users disabled or deleted, operators revoked, members removed or given a lower role',
  '  organizations deleted, invitations revoked',
  '  services disabled or removed, their scopes, secrets and calls revoked',
  '  providers disabled, removed or changed, users unlinked from them',
  '  passwords, emails and second factors changed, recovery codes used',
];

const TITLES = {
  repeat: 'taken away since, which --apply repeats:',
  act: 'changed since, which people must change again:',
  lost: 'given since, which is lost:',
};

/** The audit log has 500 characters for a reason. */
const MAX_REASON_LENGTH = 450;

export function afterRestore(invocation: Invocation): Promise<Report> {
  const hasCopies = invocation.texts('since').length > 0;
  const isApplied = invocation.flag('apply');
  const actor = invocation.operator();
  if (isApplied && !hasCopies) throw new CannotRunError('--apply requires --since');
  if (hasCopies && actor.reason!.length > MAX_REASON_LENGTH)
    throw new CannotRunError(`--reason: expected at most ${MAX_REASON_LENGTH} characters with --since`);
  return withContext(async (context) => {
    const plan = hasCopies ? await makePlan(context, invocation) : [];
    if (hasCopies && !isApplied) return showPlan(plan, invocation);
    await requireReadableSecrets(context, invocation.flag('force'));
    const done = await reset(context, invocation);
    if (!hasCopies) return { lines: [...done.lines, ...UNKNOWN_CHANGES], json: done.json };
    await invocation.print(done.lines.join('\n'), done.json[0]!);
    return applyPlan(context, plan, invocation);
  });
}

async function makePlan(context: Context, invocation: Invocation): Promise<PlanLine[]> {
  const lost = await findLost(context, invocation);
  const plan: PlanLine[] = [];
  for await (const events of inBatches([...lost.values()])) {
    const facts = await factsOf(context, events);
    for (const event of events) {
      const line = planLine(event, lost, facts);
      if (line) plan.push(line);
    }
  }
  return plan;
}

async function showPlan(plan: readonly PlanLine[], invocation: Invocation): Promise<Report> {
  await printGroup('repeat', plan, invocation);
  await printGroup('act', plan, invocation);
  await printGroup('lost', plan, invocation);
  const end = 'sessions: --apply first ends all of them, resets the event feed, and drops waiting emails';
  return { lines: [end], json: [] };
}

async function applyPlan(
  context: Context,
  plan: readonly PlanLine[],
  invocation: Invocation,
): Promise<Report> {
  const counts = { repeated: 0, unchanged: 0, left: 0 };
  await printGroup('repeat', plan, invocation, async (line) => {
    const result = await repeat(context, line, invocation.operator());
    counts[result.outcome] += 1;
    return result;
  });
  await printGroup('act', plan, invocation);
  await printGroup('lost', plan, invocation);
  const { repeated, left } = counts;
  return { lines: [`repeated ${repeated}, left ${left}`], json: [counts], isRed: left > 0 };
}

interface Result {
  outcome: 'repeated' | 'unchanged' | 'left';
  why?: string;
  orphanedOrgs?: NamedOrphan[];
}

async function printGroup(
  group: PlanLine['group'],
  plan: readonly PlanLine[],
  invocation: Invocation,
  work?: (line: RepeatableLine) => Promise<Result>,
): Promise<void> {
  const lines = plan.filter((line) => line.group === group);
  if (!invocation.asJson) await invocation.print(`${TITLES[group]}${lines.length === 0 ? ' none' : ''}`, {});
  for (const line of lines) {
    const result = work && line.group === 'repeat' ? await work(line) : undefined;
    const { outcome, why, orphanedOrgs = [] } = result ?? {};
    const end = [outcome, why].filter((part) => part !== undefined).join(', ');
    const text = [`  ${lineText(line)}`, end].filter((part) => part !== '').join(': ');
    await invocation.print([text, ...orphanedOrgs.map(orphanedLine)].join('\n    '), {
      ...lineJson(line),
      ...result,
    });
  }
}

function lineText({ what, event, email, orgName, ...change }: PlanLine): string {
  const { id, at, userId, orgId, service, callee, provider, secretId, keyId, invitationId } = event;
  const to =
    'role' in change ? change.role : 'scopes' in change && shownText(storedText(change.scopes ?? []));
  return [
    at,
    id,
    to ? `${what} to ${to}` : what,
    email ?? userId ?? invitationId,
    orgId && (orgName === undefined ? `in ${orgId}` : `in ${orgName} (${orgId})`),
    service,
    provider,
    callee && `to ${callee}`,
    secretId ?? keyId,
  ]
    .filter(Boolean)
    .join('  ');
}

function lineJson({ event, ...line }: PlanLine): object {
  const { id: eventId, actorId: _, revision: _revision, ...rest } = event;
  return { ...rest, eventId, ...line };
}

async function repeat(context: Context, line: RepeatableLine, by: OperatorActor): Promise<Result> {
  const actor = { ...by, reason: `restored: ${line.event.id}, ${by.reason}` };
  try {
    const done = await REPEAT[line.what](context, line, actor);
    if (done.kind !== 'done') return { outcome: 'unchanged' };
    const orphaned = Array.isArray(done.answer) ? (done.answer as OrphanedOrg[]) : [];
    const orphanedOrgs = await context.get(OrgsRepository).withNames(orphaned);
    return { outcome: 'repeated', ...(orphanedOrgs.length > 0 && { orphanedOrgs }) };
  } catch (error) {
    const { lines, isRefusal } = explain(error);
    if (!isRefusal) throw error;
    return { outcome: 'left', why: lines[0]!.replace('refused: ', '') };
  }
}

type Repeat = (
  context: Context,
  line: RepeatableLine,
  actor: OperatorActor,
) => Promise<{ kind: 'done' | 'unchanged' | 'gone'; answer?: unknown }>;

/** The functions of the command line. */
const REPEAT: Record<Repeatable, Repeat> = {
  'user disabled': (context, { event }, actor) =>
    context.get(UserOperations).disable(event.userId!, { actor, force: true }),
  'user deleted': (context, { event }, actor) =>
    context.get(UserDeletion).delete(event.userId!, { actor, force: true }),
  'operator revoked': (context, { event }, actor) =>
    context.get(UserOperations).revokeOperator(event.userId!, actor),
  'member removed': (context, { event }, actor) =>
    context.get(MembersService).removeByOperator({ orgId: event.orgId!, userId: event.userId!, actor }),
  'role lowered': (context, { event, role }, actor) =>
    context
      .get(MembersService)
      .changeRoleByOperator({ orgId: event.orgId!, userId: event.userId!, actor }, role!),
  'organization deleted': (context, { event }, actor) =>
    context.get(OperatedOrgs).delete(event.orgId!, actor),
  'invitation revoked': (context, { event }, actor) =>
    context.get(OperatedInvitations).revoke({ id: event.invitationId!, orgId: event.orgId! }, actor),
  'API key revoked': (context, { event }, actor) =>
    context.get(ApiKeyRevocations).revoke(event.keyId!, actor),
  'identity unlinked': async (context, { event }, actor) => {
    await context.get(ProviderChanges).unlink(event.provider!, event.userId!, actor);
    return { kind: 'done' };
  },
  'provider disabled': (context, { event }, actor) =>
    context.get(ProviderChanges).disable(event.provider!, actor),
  'provider removed': async (context, { event }, actor) => {
    await context.get(ProviderChanges).remove(event.provider!, { actor, force: true, endSessions: false });
    return { kind: 'done' };
  },
  'service disabled': (context, { event }, actor) =>
    context.get(ServiceChanges).disable(event.service!, actor),
  'service removed': (context, { event }, actor) => context.get(ServiceChanges).remove(event.service!, actor),
  'scopes of a service revoked': (context, { event, scopes }, actor) =>
    context.get(ServiceChanges).allow(event.service!, scopes!, actor),
  'call of a service revoked': (context, { event }, actor) =>
    context.get(ServiceChanges).revokeCall({ caller: event.service!, callee: event.callee! }, actor),
  'secret of a service revoked': async (context, { event }, actor) => {
    const change = { secretId: event.secretId, endSessions: false };
    const { revoked } = await context.get(ServiceChanges).revokeSecret(event.service!, change, actor);
    return { kind: revoked ? 'done' : 'unchanged' };
  },
};

async function requireReadableSecrets(context: Context, isForced: boolean): Promise<void> {
  if (isForced) return;
  const file = context.get(Env).jwtKeysFile;
  const found: string[] = [];
  for (const store of secretStores(context)) {
    const number = await countUnreadable(store, () => loadKeyFile(file, true));
    const isOfUsers = store.purpose === 'second factor secrets';
    if (number > 0)
      found.push(isOfUsers ? `TOTP secrets of ${number} users` : `secrets of ${number} providers`);
  }
  if (found.length === 0) return;
  throw new RefusedError(
    `${resolve(file)} does not decrypt the ${found.join(' and the ')}: put the key file of the backup in place, or use --force`,
  );
}

async function reset(context: Context, invocation: Invocation): Promise<Report> {
  const users = await context.get(SessionRevocation).revokeAllAfterRestore(invocation.operator());
  const apiKeys = await resetApiKeys(context, invocation);
  const events = await context.get(EventsRetention).resetFeed();
  const emails = invocation.flag('keepEmails') ? {} : await context.get(MailsRepository).dropWaiting();
  const dropped = Object.entries(emails).map(([kind, count]) => `${count} ${kind}`);
  return {
    lines: [
      `every session of ${users} users has ended`,
      ...apiKeys.lines,
      `the event feed is reset and lost ${events} events: every old cursor is refused`,
      ...(dropped.length > 0 ? [`waiting emails are dropped: ${dropped.join(', ')}`] : []),
    ],
    json: [{ users, ...apiKeys.json, events, emails }],
  };
}

async function resetApiKeys(
  context: Context,
  invocation: Invocation,
): Promise<{ lines: string[]; json: object }> {
  if (invocation.flag('revokeApiKeys')) {
    const progress = (count: number): void => invocation.showProgress(`${count} API keys are revoked`);
    const revoked = await context.get(ApiKeyRevocations).revokeAll({}, invocation.operator(), progress);
    return { lines: [`${revoked} API keys are revoked`], json: { apiKeysRevoked: revoked } };
  }
  const kept = await context.get(ApiKeysRepository).countUnexpired();
  const again = invocation.texts('since').length > 0 ? '' : '; those revoked since the backup work again';
  const lines = kept === 0 ? [] : [`${kept} API keys have not expired${again}: see --revoke-api-keys`];
  return { lines, json: { apiKeysKept: kept } };
}
