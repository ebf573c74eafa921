import { canonicalEmail } from '../../users/email-address.js';
import type { OrphanedOrg } from '../../orgs/state/user-departures.js';
import type { UserProfile } from '../../users/user-profile.js';
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

export const USER = 'A user is named by e-mail or id.';

export const LOCK_COMMANDS: CommandDefinition[] = [
  {
    usage: 'disable <USER>',
    summary: 'lock an account: every session ends at the next request, and nobody can log in',
    details: `${USER} Refused if they are the only enabled owner of an organization.`,
    options: [['--force', 'do it even if an organization is left without an enabled owner']],
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
    summary: 'unlock an account; its ended sessions stay ended',
    details: USER,
    changes: true,
    examples: ['users enable ada@example.com --reason "laptop found"'],
    run: onUser(async ({ operations }, { id }, { actor }) =>
      outcomeOf(await operations.enable(id, actor), 'enabled, can log in', 'is not disabled'),
    ),
  },
  {
    usage: 'delete <USER>',
    summary: 'erase an account with its memberships and sessions; the record keeps ids',
    details: `${USER} Refused if they are an operator, or the only enabled owner of an organization. This cannot be undone.`,
    options: [['--force', 'delete an operator, and leave an organization without an enabled owner']],
    changes: true,
    examples: ['users delete ada@example.com --reason "asked to be forgotten"'],
    run: onUser(async (services, { id }, change) => {
      const left = await services.deletion.delete(id, change);
      const outcome = outcomeOf(left, 'deleted, with every membership and session', 'is gone');
      return withOrphans(services, change, left, outcome);
    }),
  },
  {
    usage: 'end-sessions <USER>',
    summary: 'log a user out everywhere, at their next request',
    details: USER,
    changes: true,
    examples: ['users end-sessions ada@example.com --reason "asked for it"'],
    run: onUser(async ({ revocation }, { id }, { actor }) =>
      outcomeOf(await revocation.revokeAllOf(id, actor), 'every session has ended', 'is gone'),
    ),
  },
];

export const REMOVE_SECOND_FACTOR: CommandDefinition = {
  usage: 'remove-second-factor <USER>',
  summary: 'let a user who has lost the second factor log in by password; every session ends',
  details: [
    `${USER} Make sure that it is they who ask: from then on the password alone logs in. They are told by mail if`,
    'their e-mail is verified. An operator is no longer an operator: grant it again once they have a new second factor.',
  ].join('\n'),
  changes: 'with a reason',
  examples: ['users remove-second-factor ada@example.com --reason "phone lost, called back"'],
  run: onUser(removeSecondFactor),
};

export const EMAIL_COMMANDS: CommandDefinition[] = [
  {
    usage: 'set-email <USER> <EMAIL>',
    summary: 'change the e-mail of an account; its sessions continue, mailed codes are void',
    details: [
      `${USER} The old address is told by mail if it was verified. The e-mail of another account is refused. If emails can`,
      'be sent, an account with a second factor needs --verified.',
    ].join('\n'),
    options: [['--verified', 'the e-mail is known to be the user’s own (default: not verified)']],
    changes: true,
    examples: ['users set-email ada@example.com ada@lovelace.example --verified --reason "called back"'],
    run: setEmail,
  },
  {
    usage: 'verify-email <USER>',
    summary: 'mark the e-mail of a user as verified',
    details: USER,
    changes: true,
    examples: ['users verify-email ada@example.com --reason "called back"'],
    run: onUser(async ({ emails }, { id }, { actor }) =>
      outcomeOf(
        await emails.verifyByOperator(id, actor),
        'the e-mail is verified',
        'the e-mail was verified before',
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
    : `has no enabled owner now: accounts orgs add-owner ${id} <USER>`;
  return `organization ${id} (${name}) ${what}`;
}

async function removeSecondFactor(
  { secondFactorRemoval }: Services,
  { id }: UserProfile,
  { actor }: Change,
): Promise<Outcome> {
  const removed = await secondFactorRemoval.byOperator(id, actor);
  const operatorRevoked = removed?.wasOperator === true;
  const end = operatorRevoked ? '; the user is no longer an operator' : '';
  const text = removed
    ? `the second factor is removed, and every session has ended${end}`
    : 'has no second factor';
  return { text, json: { changed: removed !== undefined, operatorRevoked } };
}

async function setEmail(invocation: Invocation): Promise<Report> {
  const email = canonicalEmail(invocation.parameters[1]);
  if (email === undefined) throw new CannotRunError('expected the new email as the second parameter');
  const isVerified = invocation.flag('verified');
  const done = `the e-mail is ${email} now, ${isVerified ? 'verified' : 'not verified'}`;
  return onUser(async ({ emails }, user, { actor }) => {
    const replaced = await emails.replaceByOperator(user, { email, isVerified, actor });
    return outcomeOf(replaced, done, 'already has this e-mail');
  })(invocation);
}

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
        `the feed begins anew, without its ${events} events: every cursor is refused`,
      ],
      json: [{ users, events }],
    };
  });
}
