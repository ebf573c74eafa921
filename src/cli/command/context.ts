import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EncryptedSecrets, type SecretPurpose } from '../../auth/tokens/derived-keys.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { KeyRing } from '../../auth/tokens/signing-keys.js';
import { Env, loadEnv } from '../../config/env.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { oneLine } from '../../identifiers/text.js';
import { MAX_ORG_NAME, type Org } from '../../orgs/state/org.entity.js';
import { OrgsRepository } from '../../orgs/state/orgs.repository.js';
import { normalizedEmail } from '../../users/email-address.js';
import type { UserView } from '../../users/user-view.js';
import { UsersRepository } from '../../users/users.repository.js';
import { CliModule } from './cli.module.js';
import { requireSchema, withDatabase } from './database.js';
import {
  CannotRunError,
  type Change,
  type CommandDefinition,
  type Invocation,
  type Outcome,
  type Report,
  reportOn,
} from './definition.js';

const MAX_NAMED = 3;
const PAGE = 500;

/** A command gets what it uses from here, by class. */
export type Context = Pick<INestApplicationContext, 'get'>;

export async function withContext<T>(work: (context: Context) => Promise<T>): Promise<T> {
  const env = loadEnv();
  return withDatabase(env, 'command', async (dataSource) => {
    await requireSchema(dataSource);
    const options = { logger: false, abortOnError: false } as const;
    return work(await NestFactory.createApplicationContext(CliModule.forRoot(env, dataSource), options));
  });
}

/** Reads the file each time: keys prune waits ten seconds for secrets that others encrypt with an old key. */
export function secretsOf(context: Context, purpose: SecretPurpose): EncryptedSecrets {
  return new EncryptedSecrets(new KeyRing(loadKeyFile(context.get(Env).jwtKeysFile, true)), purpose);
}

export async function findUser(context: Context, text: string): Promise<UserView> {
  const email = normalizedEmail(text);
  if (!isEntityId(text) && email === undefined) {
    throw new CannotRunError('expected the email or the id of a user');
  }
  const users = context.get(UsersRepository);
  const user = isEntityId(text) ? await users.findById(text) : await users.findByEmail(email!);
  if (!user) throw new CannotRunError(`there is no user ${isEntityId(text) ? text : email}`);
  return user;
}

export function onUser(
  work: (context: Context, user: UserView, change: Change, invocation: Invocation) => Promise<Outcome>,
): CommandDefinition['run'] {
  return (invocation) =>
    withContext(async (context) => {
      const change = invocation.change();
      const user = await findUser(context, invocation.parameters[0]!);
      const { id, email } = user;
      return reportOn(`${email} (${id})`, { id, email }, await work(context, user, change, invocation));
    });
}

export async function findOrg(context: Context, text: string): Promise<Org> {
  const orgs = context.get(OrgsRepository);
  if (isEntityId(text)) {
    const org = await orgs.find(text);
    if (!org) throw new CannotRunError(`there is no organization ${text}`);
    return org;
  }
  const name = oneLine(text, MAX_ORG_NAME);
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

/** In other scripts, marks are letters. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Compares texts here, ignoring case and accents, because databases differ in which letters are equal. */
export function partFinder(part: string): (text: string) => boolean {
  const comparable = (text: string): string =>
    text.normalize('NFD').replaceAll(ACCENTS, '').normalize('NFC').toLowerCase();
  const wanted = comparable(part);
  return (text) => comparable(text).includes(wanted);
}

interface List<T> {
  findPage: (context: Context, limit: number, after: T | undefined) => Promise<T[]>;
  choose?: (context: Context, page: T[]) => Promise<T[]>;
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
  return withContext(async (context) => {
    let shown = 0;
    for (let after: T | undefined; ;) {
      const page = await findPage(context, PAGE, after);
      for (const item of await choose(context, page)) {
        if (shown === limit) return endWith(`only the first ${limit} are shown`);
        await invocation.print(lineOf(item), jsonOf(item));
        shown += 1;
      }
      if (page.length < PAGE) return endWith(shown === 0 ? none : undefined);
      after = page.at(-1);
    }
  });
}
