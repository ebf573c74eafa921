import { resolve } from 'node:path';
import { countUnreadable } from '../../auth/second-factor/re-encryption.js';
import { SecondFactorsRepository } from '../../auth/second-factor/second-factors.repository.js';
import { SessionRevocation } from '../../auth/sessions/session-revocation.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { Env } from '../../config/env.js';
import { EventsRetention } from '../../events/events-retention.js';
import { MailsRepository } from '../../mail/mails.repository.js';
import { RefusedError } from '../../problems/problem.js';
import { type Context, withContext } from '../command/context.js';
import type { Invocation, Report } from '../command/definition.js';

const UNKNOWN_CHANGES = [
  'the restore also undid what was changed after the backup, and the database cannot know it. Repeat it by hand:',
  '  users disabled or deleted, operators revoked, members removed or given a lower role',
  '  organizations deleted, invitations revoked',
  '  services disabled or removed, their scopes and secrets revoked',
  '  passwords, emails and second factors changed, recovery codes used',
];

export function afterRestore(invocation: Invocation): Promise<Report> {
  return withContext(async (context) => {
    await requireReadableSecrets(context, invocation.flag('force'));
    const { lines, json } = await reset(context, invocation);
    return { lines: [...lines, ...UNKNOWN_CHANGES], json };
  });
}

async function requireReadableSecrets(context: Context, isForced: boolean): Promise<void> {
  if (isForced) return;
  const file = context.get(Env).jwtKeysFile;
  const factors = context.get(SecondFactorsRepository);
  const unreadable = await countUnreadable(factors, () => loadKeyFile(file, true));
  if (unreadable === 0) return;
  throw new RefusedError(
    `${resolve(file)} does not decrypt the TOTP secrets of ${unreadable} users: put the key file of the backup in place, or use --force`,
  );
}

async function reset(context: Context, invocation: Invocation): Promise<Report> {
  const users = await context.get(SessionRevocation).revokeAllAfterRestore(invocation.operator());
  const events = await context.get(EventsRetention).resetFeed();
  const emails = invocation.flag('keepEmails') ? {} : await context.get(MailsRepository).dropWaiting();
  const dropped = Object.entries(emails).map(([kind, count]) => `${count} ${kind}`);
  return {
    lines: [
      `every session of ${users} users has ended`,
      `the event feed is reset and lost ${events} events: every old cursor is refused`,
      ...(dropped.length > 0 ? [`waiting emails are dropped: ${dropped.join(', ')}`] : []),
    ],
    json: [{ users, events, emails }],
  };
}
