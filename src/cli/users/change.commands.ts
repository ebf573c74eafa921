import { canonicalEmail } from '../../users/email-address.js';
import type { OrphanedOrg } from '../../orgs/state/user-departures.js';
import type { UserView } from '../../users/user-view.js';
import type { Services } from '../command/cli.module.js';
import {
  CannotRunError,
  type Change,
  type CommandDefinition,
  type CommandGroup,
  type Invocation,
  type Outcome,
  outcomeOf,
  type Report,
} from '../command/definition.js';
import { onUser, withServices } from '../command/services.js';

export const USER = 'USER is an email address or an id.';

export const LOCK_COMMANDS: CommandDefinition[] = [
  {
    usage: 'disable <USER>',
    summary: 'disable a user: all their sessions end immediately, and they cannot log in',
    details: `${USER} The command refuses to disable the only enabled owner of an organization.`,
    options: [['--force', 'disable the user even if an organization has no enabled owner afterwards']],
    changes: true,
    examples: ['users disable ada@example.com --reason "laptop stolen"'],
    run: onUser(async (services, { id }, change) => {
      const left = await services.operations.disable(id, change);
      const outcome = outcomeOf(left, 'disabled, every session has ended', 'is already disabled');
      return withOrphans(services, change, left, outcome);
    }),
  },
  {
    usage: 'enable <USER>',
    summary: 'enable a user again; ended sessions stay ended',
    details: USER,
    changes: true,
    examples: ['users enable ada@example.com --reason "laptop found"'],
    run: onUser(async ({ operations }, { id }, { actor }) =>
      outcomeOf(await operations.enable(id, actor), 'enabled, can log in', 'is not disabled'),
    ),
  },
  {
    usage: 'unblock <USER>',
    summary: 'lift the login limits and the count of wrong TOTP codes of a user',
    details: `${USER} Running instances apply it within 5 seconds. An attacker who continues is limited again.`,
    changes: true,
    examples: ['users unblock ada@example.com --reason "locked out by a stranger, called back"'],
    run: onUser(async ({ operations }, { id }, { actor }) =>
      outcomeOf(await operations.unblock(id, actor), 'unblocked, can log in within 5 seconds', 'was deleted'),
    ),
  },
  {
    usage: 'delete <USER>',
    summary: 'delete a user with their memberships and sessions; the audit log keeps ids',
    details: `${USER} The command refuses to delete an operator or the only enabled owner of an organization. You cannot undo it.`,
    options: [
      [
        '--force',
        'delete the user even if they are an operator, or the only enabled owner of an organization',
      ],
    ],
    changes: true,
    examples: ['users delete ada@example.com --reason "asked to be forgotten"'],
    run: onUser(async (services, { id }, change) => {
      const left = await services.deletion.delete(id, change);
      const outcome = outcomeOf(left, 'deleted, with every membership and session', 'was already deleted');
      return withOrphans(services, change, left, outcome);
    }),
  },
  {
    usage: 'end-sessions <USER>',
    summary: 'end all sessions of a user immediately',
    details: USER,
    changes: true,
    examples: ['users end-sessions ada@example.com --reason "asked for it"'],
    run: onUser(async ({ revocation }, { id }, { actor }) =>
      outcomeOf(await revocation.revokeAllOf(id, actor), 'every session has ended', 'was already deleted'),
    ),
  },
];

export const REMOVE_SECOND_FACTOR: CommandDefinition = {
  usage: 'remove-second-factor <USER>',
  summary: 'turn off two-factor authentication for a user who lost their device; all sessions end',
  details: [
    `${USER} Verify the person’s identity first: afterwards, their password alone is enough to log in. They`,
    'receive an email if their address is verified. An operator loses that role: grant it again when they have set up',
    'two-factor authentication again.',
  ].join('\n'),
  changes: true,
  examples: ['users remove-second-factor ada@example.com --reason "phone lost, called back"'],
  run: onUser(removeSecondFactor),
};

export const EMAIL_COMMANDS: CommandDefinition[] = [
  {
    usage: 'set-email <USER> <EMAIL>',
    summary: 'change the email of a user; their sessions continue, and codes sent by email become invalid',
    details: [
      `${USER} The old address receives an email if it was verified. The command refuses an email that another user has.`,
      'If Accounts can send emails, a user with two-factor authentication needs --verified.',
    ].join('\n'),
    options: [['--verified', 'mark the email as verified, because you know that it belongs to the user']],
    changes: true,
    examples: ['users set-email ada@example.com ada@lovelace.example --verified --reason "called back"'],
    run: setEmail,
  },
  {
    usage: 'verify-email <USER>',
    summary: 'mark the email of a user as verified',
    details: USER,
    changes: true,
    examples: ['users verify-email ada@example.com --reason "called back"'],
    run: onUser(async ({ emails }, { id }, { actor }) =>
      outcomeOf(
        await emails.verifyByOperator(id, actor),
        'the email is verified',
        'the email was already verified',
      ),
    ),
  },
];

async function withOrphans(
  { orgs }: Services,
  { force }: Change,
  left: OrphanedOrg[] = [],
  { text, json }: Outcome,
): Promise<Outcome> {
  const orphanedOrgs = await orgs.withNames(left);
  return { text, lines: orphanedOrgs.map(orphanedLine), json: { ...json, ...(force && { orphanedOrgs }) } };
}

function orphanedLine({ id, name, isDeleted }: OrphanedOrg & { name: string }): string {
  const what = isDeleted
    ? 'is deleted: it had no other member'
    : `no longer has an enabled owner: accounts orgs add-owner ${id} <USER>`;
  return `organization ${id} (${name}) ${what}`;
}

async function removeSecondFactor(
  { secondFactorRemoval }: Services,
  { id }: UserView,
  { actor }: Change,
): Promise<Outcome> {
  const removed = await secondFactorRemoval.byOperator(id, actor);
  const operatorRevoked = removed?.wasOperator === true;
  const end = operatorRevoked ? '; the user is no longer an operator' : '';
  const text = removed
    ? `two-factor authentication is off, and every session has ended${end}`
    : 'does not use two-factor authentication';
  return { text, json: { changed: removed !== undefined, operatorRevoked } };
}

async function setEmail(invocation: Invocation): Promise<Report> {
  const email = canonicalEmail(invocation.parameters[1]);
  if (email === undefined) throw new CannotRunError('expected the new email as the second parameter');
  const isVerified = invocation.flag('verified');
  const done = `the email is now ${email}, ${isVerified ? 'verified' : 'not verified'}`;
  return onUser(async ({ emails }, user, { actor }) => {
    const replaced = await emails.replaceByOperator(user, { email, isVerified, actor });
    return outcomeOf(replaced, done, 'already has this email');
  })(invocation);
}

export const SESSIONS: CommandGroup = {
  name: 'sessions',
  summary: 'sessions of all users',
  commands: [
    {
      usage: 'end-all',
      summary: 'end the sessions of all users immediately',
      details:
        'Use it if a signing key was stolen. After a restore, use accounts after-restore instead. Users keep their passwords.',
      changes: true,
      examples: ['sessions end-all --reason "a signing key was stolen"'],
      run: endAllSessions,
    },
  ],
};

export const AFTER_RESTORE: CommandDefinition = {
  usage: 'after-restore',
  summary: 'end all sessions and reset the event feed after you restored a backup',
  details: [
    'Run it after every restore, before you start Accounts. You can run it again.',
    'The restore also undoes changes made after the backup. Repeat these by hand: recovery codes that users used,',
    'two-factor authentication that was turned off, passwords that were changed, and secrets of services that were',
    'revoked.',
  ].join('\n'),
  changes: true,
  examples: ['after-restore --reason "restored the backup of yesterday"'],
  run: afterRestore,
};

function endAllSessions(invocation: Invocation): Promise<Report> {
  return withServices(async ({ revocation }) => {
    const users = await revocation.revokeAllOfEveryUser(invocation.operator());
    return { lines: [`every session of ${users} users has ended`], json: [{ users }] };
  });
}

function afterRestore(invocation: Invocation): Promise<Report> {
  return withServices(async ({ revocation, eventsRetention }) => {
    const users = await revocation.revokeAllAfterRestore(invocation.operator());
    const events = await eventsRetention.resetFeed();
    return {
      lines: [
        `every session of ${users} users has ended`,
        `the event feed is reset and lost ${events} events: every old cursor is refused`,
      ],
      json: [{ users, events }],
    };
  });
}
