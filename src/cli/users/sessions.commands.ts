import type { CommandDefinition, CommandGroup, Invocation, Report } from '../command/definition.js';
import { operatorOf } from '../command/options.js';
import { withServices } from '../command/services.js';

export const SESSIONS: CommandGroup = {
  name: 'sessions',
  summary: 'the logins of all users',
  commands: [
    {
      usage: 'end-all',
      summary: 'log everybody out everywhere, at the next request',
      details:
        'Use it when a signing key was stolen; after a restore use accounts after-restore. Users keep their passwords.',
      changes: true,
      examples: ['sessions end-all --reason "a signing key was stolen"'],
      run: endAllSessions,
    },
  ],
};

export const AFTER_RESTORE: CommandDefinition = {
  usage: 'after-restore',
  summary: 'end every session, and begin the feed of changes anew, since a restored database knows neither',
  details: [
    'Run it after every restore of a backup, before the first start. It can be repeated.',
    'What was used up or taken away after the backup is back, and is for you to renew: recovery codes that were used,',
    'second factors that were removed, passwords that were changed, and secrets of services that were revoked.',
  ].join('\n'),
  changes: 'with a reason',
  examples: ['after-restore --reason "restored the backup of yesterday"'],
  run: afterRestore,
};

function endAllSessions(invocation: Invocation): Promise<Report> {
  return withServices(async ({ revocation }) => {
    const users = await revocation.revokeAllOfEveryUser(operatorOf(invocation));
    return { lines: [`every session of ${users} users has ended`], json: [{ users }] };
  });
}

function afterRestore(invocation: Invocation): Promise<Report> {
  return withServices(async ({ revocation, eventsRetention }) => {
    const users = await revocation.revokeAllAfterRestore(operatorOf(invocation));
    const events = await eventsRetention.resetFeed();
    return {
      lines: [
        `every session of ${users} users has ended`,
        `the feed begins anew, without its ${events} events: every cursor is refused`,
      ],
      json: [{ users, events }],
    };
  });
}
