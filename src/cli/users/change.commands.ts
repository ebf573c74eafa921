import type { OperatorActor } from '../../access/principal.js';
import type { Removal } from '../../accounts/second-factor-removal.js';
import { canonicalEmail } from '../../users/email-address.js';
import type { OrphanedOrg } from '../../orgs/state/user-departures.js';
import type { UserProfile } from '../../users/users.repository.js';
import type { Services } from '../command/cli.module.js';
import {
  CannotRunError,
  type CommandDefinition,
  type CommandGroup,
  type Invocation,
  operatorOf,
  type Report,
} from '../command/definition.js';
import { findUser, withServices } from '../command/services.js';

export const USER = 'A user is named by e-mail or id.';

export const LOCK_COMMANDS: CommandDefinition[] = [
  {
    usage: 'disable <USER>',
    summary: 'lock an account: every session ends at the next request, and nobody can log in',
    details: `${USER} Refused if they are the only enabled owner of an organization.`,
    options: [['--force', 'do it even if an organization is left without an enabled owner']],
    changes: true,
    examples: ['users disable ada@example.com --reason "laptop stolen"'],
    run: changeOwner({
      make: ({ disabling }, { id }, how) => disabling.disable(id, how),
      done: 'disabled, every session has ended',
      unchanged: 'is already disabled',
    }),
  },
  {
    usage: 'enable <USER>',
    summary: 'unlock an account; its ended sessions stay ended',
    details: USER,
    changes: true,
    examples: ['users enable ada@example.com --reason "laptop found"'],
    run: changeUser({
      make: ({ disabling }, { id }, actor) => disabling.enable(id, actor),
      done: 'enabled, can log in',
      unchanged: 'is not disabled',
    }),
  },
  {
    usage: 'delete <USER>',
    summary: 'erase an account with its memberships and sessions; the record keeps ids',
    details: `${USER} Refused if they are an operator, or the only enabled owner of an organization. This cannot be undone.`,
    options: [['--force', 'delete an operator, and leave an organization without an enabled owner']],
    changes: true,
    examples: ['users delete ada@example.com --reason "asked to be forgotten"'],
    run: changeOwner({
      make: ({ deletion }, { id }, how) => deletion.delete(id, how),
      done: 'deleted, with every membership and session',
      unchanged: 'is gone',
    }),
  },
  {
    usage: 'end-sessions <USER>',
    summary: 'log a user out everywhere, at their next request',
    details: USER,
    changes: true,
    examples: ['users end-sessions ada@example.com --reason "asked for it"'],
    run: changeUser({
      make: ({ revocation }, { id }, actor) => revocation.revokeAllOf(id, actor),
      done: 'every session has ended',
      unchanged: 'is gone',
    }),
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
  run: removeSecondFactor,
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
    run: changeUser({
      make: ({ vouchedEmails }, { id }, actor) => vouchedEmails.verify(id, actor),
      done: 'the e-mail is verified',
      unchanged: 'the e-mail was verified before',
    }),
  },
];

interface UserChange<Actor, Changed> {
  make: (services: Services, user: UserProfile, actor: Actor) => Promise<Changed>;
  done: string;
  unchanged: string;
}

/** `make` returns false if there was nothing to change. */
export function changeUser({
  make,
  done,
  unchanged,
}: UserChange<OperatorActor, boolean>): CommandDefinition['run'] {
  return (invocation) =>
    withServices(async (services) => {
      const actor = operatorOf(invocation);
      const user = await findUser(services, invocation.parameters[0]!);
      const changed = await make(services, user, actor);
      const { id, email } = user;
      return { lines: [`${email} (${id}): ${changed ? done : unchanged}`], json: [{ id, email, changed }] };
    });
}

/** `make` returns the organizations without an enabled owner, or undefined if there was nothing to change. */
function changeOwner({
  make,
  ...texts
}: UserChange<
  { actor: OperatorActor; force: boolean },
  OrphanedOrg[] | undefined
>): CommandDefinition['run'] {
  return async (invocation) => {
    const force = invocation.options['force'] === true;
    let orphaned: (OrphanedOrg & { name: string })[] = [];
    const change = changeUser({
      ...texts,
      make: async (services, user, actor) => {
        const left = await make(services, user, { actor, force });
        orphaned = await services.orgs.withNames(left ?? []);
        return left !== undefined;
      },
    });
    const { lines, json } = await change(invocation);
    return {
      lines: [...lines, ...orphaned.map(orphanedLine)],
      json: [{ ...json[0], ...(force && { orphanedOrgs: orphaned }) }],
    };
  };
}

function orphanedLine({ id, name, isDeleted }: OrphanedOrg & { name: string }): string {
  const what = isDeleted
    ? 'is deleted: it had no other member'
    : `has no enabled owner now: accounts orgs add-owner ${id} <USER>`;
  return `organization ${id} (${name}) ${what}`;
}

function removeSecondFactor(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const user = await findUser(services, invocation.parameters[0]!);
    const removal = await services.secondFactorRemoval.byOperator(user.id, actor);
    const { id, email } = user;
    const changed = removal.kind === 'removed';
    const operatorRevoked = changed && removal.wasOperator;
    return {
      lines: [`${email} (${id}): ${removalText(removal)}`],
      json: [{ id, email, changed, operatorRevoked }],
    };
  });
}

function removalText(removal: Removal): string {
  if (removal.kind === 'unchanged') return 'has no second factor';
  const removed = 'the second factor is removed, and every session has ended';
  return removal.wasOperator ? `${removed}; the user is no longer an operator` : removed;
}

async function setEmail(invocation: Invocation): Promise<Report> {
  const email = canonicalEmail(invocation.parameters[1]);
  if (email === undefined) throw new CannotRunError('expected the new email as the second parameter');
  const isVerified = invocation.options['verified'] === true;
  return changeUser({
    make: ({ vouchedEmails }, user, actor) => vouchedEmails.replace(user, { email, isVerified, actor }),
    done: `the e-mail is ${email} now, ${isVerified ? 'verified' : 'not verified'}`,
    unchanged: 'already has this e-mail',
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
