import { documentText, inPieces, UserExport } from '../../accounts/user-export.js';
import { SecondFactorFailuresRepository } from '../../auth/second-factor/second-factor-failures.repository.js';
import { LoginTracesRepository } from '../../auth/sessions/login-traces.repository.js';
import { sessionView, UserSessionsRepository } from '../../auth/sessions/sessions.of-user.js';
import { oneLine, timeText } from '../../identifiers/text.js';
import { Env } from '../../config/env.js';
import type { LoginLimit } from '../../operators/users.responses.js';
import { loginLimitsView } from '../../operators/views.js';
import { InvitationListsRepository } from '../../orgs/state/invitations.lists.js';
import { type AnyUserOrg, MembershipsRepository } from '../../orgs/state/members.memberships.js';
import { type HeldLimit, HeldLimits } from '../../rate-limits/login-limits.js';
import { profileOf } from '../../users/profile.js';
import { type LoginTraceView, loginTraceView, type UserView, userJson } from '../../users/user-view.js';
import { UsersRepository } from '../../users/users.repository.js';
import { findUser, partFinder, printList, withContext } from '../command/context.js';
import { CannotRunError, type Invocation, type Report, write } from '../command/definition.js';

const MAX_TEXT = 254;

export function listUsers(invocation: Invocation): Promise<Report> {
  return printList<UserView>(invocation, {
    findPage: (context, limit, after) =>
      context.get(UsersRepository).listPage({ prefix: '', after: after?.email, onlyDisabled: false }, limit),
    ...USER_LIST,
  });
}

/** Reads by id, because rows in the order of emails take MariaDB a hundred times as long. */
export async function findUsers(invocation: Invocation): Promise<Report> {
  const part = oneLine(invocation.parameters[0], MAX_TEXT);
  if (part === undefined) {
    throw new CannotRunError(`expected 1 to ${MAX_TEXT} characters of an email or a name`);
  }
  const has = partFinder(part);
  return printList<UserView>(invocation, {
    findPage: (context, limit, after) => context.get(UsersRepository).findAfter(after?.id ?? '', limit),
    choose: async (_, page) => page.filter(({ email, name }) => has(email) || (name !== null && has(name))),
    ...USER_LIST,
  });
}

const USER_LIST = { lineOf: userLine, jsonOf: userJson, none: 'none' };

function userLine({ id, email, name, disabledAt }: UserView): string {
  return [id, email, name, disabledAt === null ? null : 'DISABLED']
    .filter((part) => part !== null)
    .join('  ');
}

export function showUser({ parameters }: Invocation): Promise<Report> {
  return withContext(async (context) => {
    const user = await findUser(context, parameters[0]!);
    const sessions = await context.get(UserSessionsRepository).countAlive(user.id, Date.now());
    const orgs = await context.get(MembershipsRepository).findOrgsEvenDeleted(user.id);
    const invitations = await context.get(InvitationListsRepository).countPending(user.email, Date.now());
    const { lastLoginAt, failedLogins } = loginTraceView(
      await context.get(LoginTracesRepository).find(user.id),
    );
    const held = await findHeldLimits(context.get(Env), user.email, failedLogins.lastIp);
    const failures = await context.get(SecondFactorFailuresRepository).find(user.id, 'login');
    const loginLimits = loginLimitsView(held ?? [], failures);
    const shown = { ...userJson(user), ...profileOf(user), lastLoginAt };
    return {
      lines: [
        ...Object.entries(shown).map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`),
        `${'failedLogins'.padEnd(18)} ${failuresText(failedLogins)}`,
        `${'loginLimits'.padEnd(18)} ${limitsText(loginLimits, held)}`,
        `${'sessions'.padEnd(18)} ${sessions} active`,
        `${'invitations'.padEnd(18)} ${invitations} pending`,
        ...orgs.map(orgLine),
      ],
      json: [
        {
          ...shown,
          failedLogins,
          loginLimits,
          loginLimitsOf: held ? 'all' : 'database',
          sessions,
          invitations,
          orgs: orgs.map(orgJson),
        },
      ],
    };
  });
}

/** Returns undefined if only the instances know. */
async function findHeldLimits(
  env: Env,
  email: string,
  address: string | null,
): Promise<HeldLimit[] | undefined> {
  if (env.redisUrl === undefined) return undefined;
  const { RedisWindowStore } = await import('../../rate-limits/redis-window-store.js');
  const store = new RedisWindowStore(env.redisUrl, env.redisCa);
  try {
    await store.connect();
    return await new HeldLimits(env, store).find(email, address);
  } catch {
    return undefined;
  } finally {
    store.close();
  }
}

function limitsText(limits: readonly LoginLimit[], held: HeldLimit[] | undefined): string {
  const known = limits.map(({ limit, until }) => `${limit} until ${until}`);
  const unknown = 'others unknown: each instance counts logins, see GET /api/operators/users/{userId}';
  return [...known, ...(held ? [] : [unknown])].join(', ') || 'none';
}

function failuresText({ count, lastAt, lastIp }: LoginTraceView['failedLogins']): string {
  return count === 0
    ? '0'
    : `${count} since then, the last at ${lastAt} from ${lastIp ?? 'a deleted IP address'}`;
}

function orgLine({ id, name, role, deletedAt }: AnyUserOrg): string {
  return `${role.padEnd(18)} ${id}  ${name}${deletedAt === null ? '' : '  DELETED'}`;
}

function orgJson({ id, name, role, deletedAt }: AnyUserOrg): object {
  return { id, name, role, ...(deletedAt !== null && { deletedAt: timeText(deletedAt) }) };
}

export function listSessions({ parameters }: Invocation): Promise<Report> {
  return withContext(async (context) => {
    const { id } = await findUser(context, parameters[0]!);
    const sessions = (await context.get(UserSessionsRepository).listAlive(id)).map(sessionView);
    const lines = sessions.map(({ id: session, via, lastUsedAt, ip, deviceName, userAgent, service }) =>
      [session, via.padEnd(8), `used ${lastUsedAt}`, ip, deviceName, userAgent, service]
        .filter((part) => part !== null)
        .join('  '),
    );
    return { lines: lines.length === 0 ? ['none'] : lines, json: sessions };
  });
}

export function exportUser(invocation: Invocation): Promise<Report> {
  const { parameters, asJson } = invocation;
  return withContext(async (context) => {
    const user = await findUser(context, parameters[0]!);
    const document = context.get(UserExport).documentOf(user);
    let length = 0;
    for await (const piece of inPieces(documentText(document, asJson ? '' : '\n'))) {
      await write(piece);
      length += piece.length;
      // On a terminal, the document itself shows how far the command is.
      if (!process.stdout.isTTY) invocation.showProgress(`${Math.round(length / 1024)} KiB`);
    }
    return { lines: [], json: [] };
  });
}

export function listOperators(invocation: Invocation): Promise<Report> {
  return printList<UserView>(invocation, {
    findPage: (context, limit, after) => context.get(UsersRepository).findOperators(limit, after?.email),
    lineOf: operatorLine,
    jsonOf: operatorJson,
    none: 'none',
  });
}

function operatorLine(user: UserView): string {
  const { operatorSince, secondFactorAt } = userJson(user);
  return `${userLine(user)}  since ${operatorSince}${secondFactorAt === null ? '  NO 2FA' : ''}`;
}

function operatorJson(user: UserView): object {
  const { id, email, operatorSince, disabledAt, secondFactorAt } = userJson(user);
  return { id, email, operatorSince, disabledAt, secondFactorAt };
}
