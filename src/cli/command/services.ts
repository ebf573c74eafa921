import { loadEnv } from '../../config/env.js';
import { oneLine } from '../../identifiers/text.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import type { MAX_ORG_NAME, Org } from '../../orgs/state/org.entity.js';
import { canonicalEmail } from '../../users/email-address.js';
import type { UserView } from '../../users/user-view.js';
import type { Services } from './cli.module.js';
import {
  CannotRunError,
  type Change,
  type CommandDefinition,
  type Invocation,
  type Outcome,
  type Report,
  reportOn,
} from './definition.js';

/** The entity would load the database's library for the help. */
export const MAX_NAME: typeof MAX_ORG_NAME = 100;
const MAX_NAMED = 3;
const PAGE = 500;

export async function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const env = loadEnv();
  const { openServices } = await import('./cli.module.js');
  return openServices(env, work);
}

export async function findUser({ users }: Services, text: string): Promise<UserView> {
  const email = canonicalEmail(text);
  if (!isEntityId(text) && email === undefined) {
    throw new CannotRunError('expected the email or the id of a user');
  }
  const user = isEntityId(text) ? await users.findById(text) : await users.findByEmail(email!);
  if (!user) throw new CannotRunError(`there is no user ${isEntityId(text) ? text : email}`);
  return user;
}

export function onUser(
  work: (services: Services, user: UserView, change: Change, invocation: Invocation) => Promise<Outcome>,
): CommandDefinition['run'] {
  return (invocation) =>
    withServices(async (services) => {
      const change = invocation.change();
      const user = await findUser(services, invocation.parameters[0]!);
      const { id, email } = user;
      return reportOn(`${email} (${id})`, { id, email }, await work(services, user, change, invocation));
    });
}

export async function findOrg({ orgs }: Services, text: string): Promise<Org> {
  if (isEntityId(text)) {
    const org = await orgs.find(text);
    if (!org) throw new CannotRunError(`there is no organization ${text}`);
    return org;
  }
  const name = oneLine(text, MAX_NAME);
  const named = name === undefined ? [] : await orgs.findNamed(name, MAX_NAMED + 1);
  const [org, other] = named;
  if (!org) throw new CannotRunError('there is no organization with that name: see accounts orgs find');
  if (other) {
    const ids = named.slice(0, MAX_NAMED).map(({ id }) => id);
    const more = named.length > MAX_NAMED ? ' or another' : '';
    throw new CannotRunError(`several organizations have that name: give an id, ${ids.join(', ')}${more}`);
  }
  return org;
}

interface List<T> {
  findPage: (services: Services, limit: number, after: T | undefined) => Promise<T[]>;
  choose?: (services: Services, page: T[]) => Promise<T[]>;
  lineOf: (item: T) => string;
  jsonOf: (item: T) => object;
  none: string;
}

export async function printList<T>(
  invocation: Invocation,
  { findPage, choose = async (_, page) => page, lineOf, jsonOf, none }: List<T>,
): Promise<Report> {
  const limit = invocation.optionalLimit();
  const endWith = (note?: string): Report => ({ lines: note === undefined ? [] : [note], json: [] });
  return withServices(async (services) => {
    let shown = 0;
    for (let after: T | undefined; ;) {
      const page = await findPage(services, PAGE, after);
      for (const item of await choose(services, page)) {
        if (shown === limit) return endWith(`only the first ${limit} are shown`);
        await invocation.print(lineOf(item), jsonOf(item));
        shown += 1;
      }
      if (page.length < PAGE) return endWith(shown === 0 ? none : undefined);
      after = page.at(-1);
    }
  });
}
