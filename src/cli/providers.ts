import { IdentitiesRepository } from '../auth/providers/identities.repository.js';
import {
  type NewProvider,
  ProviderChanges,
  type ProviderFields,
} from '../auth/providers/provider-changes.js';
import { ProviderDomainsRepository } from '../auth/providers/provider-domains.repository.js';
import {
  CLIENT_ID,
  DEFAULT_SETTINGS,
  DOMAINS,
  isProviderName,
  ISSUER,
  MIN_SESSION_MAX_AGE,
  readSettings,
  SETTINGS,
  shownSetting,
  SUBJECT,
  TITLE,
} from '../auth/providers/provider-settings.js';
import { type Provider, ProvidersRepository } from '../auth/providers/providers.repository.js';
import { Env } from '../config/env.js';
import { type Format, ON_OR_OFF } from '../config/readers.js';
import type { ProviderSummary } from '../operators/providers.responses.js';
import { providerView } from '../operators/views.js';
import { ask, readLine } from './command/ask.js';
import { type Context, findUser, secretsOf, withContext } from './command/context.js';
import {
  CannotRunError,
  type Change,
  type CommandDefinition,
  flagOf,
  type Invocation,
  type Outcome,
  outcomeOf,
  type Report,
  reportOn,
} from './command/definition.js';
import { accessOf, requirePassed, testAccess } from './provider-tests.js';

export function listProviders(): Promise<Report> {
  return withContext(async (context) => {
    const providers = await context.get(ProvidersRepository).findAll();
    const views = await viewsOf(context, providers);
    return { lines: views.length > 0 ? views.map(providerLine) : ['no providers'], json: views };
  });
}

async function viewsOf(context: Context, providers: Provider[]): Promise<ProviderSummary[]> {
  const domains = await context.get(ProviderDomainsRepository).findOfAll(providers.map(({ id }) => id));
  return providers.map((provider) => providerView(provider, domains, context.get(Env)));
}

async function viewOf(context: Context, provider: Provider): Promise<ProviderSummary> {
  return (await viewsOf(context, [provider]))[0]!;
}

function providerLine({ name, issuer, domains, required, disabledAt, damaged }: ProviderSummary): string {
  const state = `${required ? '  REQUIRED' : ''}${disabledAt === null ? '' : '  DISABLED'}${damaged ? '  DAMAGED' : ''}`;
  return `${name.padEnd(40)}  ${issuer}  ${domains.join(',') || '-'}${state}`;
}

export function showProvider({ parameters }: Invocation): Promise<Report> {
  return withContext(async (context) => {
    const provider = await findProvider(context, parameters[0]!);
    const view = await viewOf(context, provider);
    const shown = { ...view, users: await context.get(IdentitiesRepository).count(provider.id) };
    const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(18)} ${textOf(name, value)}`);
    return { lines, json: [shown] };
  });
}

function textOf(name: string, value: boolean | number | string | string[] | null): string {
  if (value === null) return '-';
  if (Array.isArray(value)) return value.join(',') || '-';
  return name === 'sessionMaxAge' || typeof value === 'boolean' ? shownSetting(value) : String(value);
}

async function findProvider(context: Context, text: string): Promise<Provider> {
  requireName(text);
  const found = await context.get(ProvidersRepository).find(text);
  if (!found) throw new CannotRunError(`there is no provider ${text}`);
  return found;
}

function requireName(text: string): void {
  if (!isProviderName(text))
    throw new CannotRunError(
      'the name of a provider has 1 to 40 lower-case letters, digits and hyphens, the first a letter, and is not finish',
    );
}

export function testProvider({ parameters }: Invocation): Promise<Report> {
  return withContext(async (context) => {
    const provider = await findProvider(context, parameters[0]!);
    const access = accessOf(context, provider);
    const { test, redirectUri, faults, lines } = await testAccess(context, access);
    return { lines, json: [{ name: access.name, redirectUri, ...test }], isRed: faults.length > 0 };
  });
}

export async function addProvider(invocation: Invocation): Promise<Report> {
  const name = invocation.parameters[0]!;
  requireName(name);
  const issuer = requireOption(invocation, 'issuer', ISSUER);
  const clientId = requireOption(invocation, 'clientId', CLIENT_ID);
  const typed = typedFields(invocation);
  const { actor, force } = invocation.change();
  const secret = await readSecret();
  return withContext(async (context) => {
    const most = Math.max(context.get(Env).sessionMaxAge, MIN_SESSION_MAX_AGE);
    const sessionMaxAge = Math.min(DEFAULT_SETTINGS.sessionMaxAge, most);
    const defaults = { ...DEFAULT_SETTINGS, sessionMaxAge, title: name, domains: [], required: false };
    const provider: NewProvider = { ...defaults, ...typed, name, issuer, clientId };
    const changes = context.get(ProviderChanges);
    changes.requireAddable(provider);
    const access = { name, issuer, clientId, secret, settings: provider };
    const { test, lines } = await requirePassed(context, access, force);
    const stored = { ...provider, issuer: test.issuer ?? issuer };
    await changes.add(stored, secret, secretsOf(context, 'provider secrets'), actor);
    const added = await findProvider(context, name);
    if (provider.required) lines.push(...(await requiredLines(context, added)));
    return reportOn(name, {}, { text: 'added', lines, json: await viewOf(context, added) });
  });
}

export const changeProvider = onProvider(async (context, provider, { actor, force }, invocation) => {
  const change = typedFields(invocation);
  const { clientId } = change;
  if (Object.keys(change).length === 0) throw new CannotRunError('give at least one setting');
  const lines: string[] = [];
  if (clientId !== undefined) {
    const access = { ...accessOf(context, provider), clientId };
    const tested = await requirePassed(context, access, force);
    lines.push(...tested.lines);
    lines.push('some providers give users another subject for another client: check a login');
  }
  const outcome = await context.get(ProviderChanges).change(provider.name, change, actor);
  if (change.required)
    lines.push(...(await requiredLines(context, await findProvider(context, provider.name))));
  const changed = outcome.kind === 'done' ? outcome.changed : [];
  const text = changed.length > 0 ? `changed ${changed.join(', ')}` : 'has these settings already';
  return { text, lines, json: { changed } };
});

export const setProviderSecret = onProvider(async (context, provider, { actor, force }) => {
  const secret = await readSecret();
  const access = { ...provider, secret, settings: readSettings(provider.settings) };
  const { lines } = await requirePassed(context, access, force);
  const secrets = secretsOf(context, 'provider secrets');
  await context.get(ProviderChanges).setSecret(provider.name, secret, secrets, actor);
  return { text: 'the secret is set', lines, json: { changed: true } };
});

export const disableProvider = onProvider(async (context, { name }, { actor }, invocation) => {
  const changes = context.get(ProviderChanges);
  const outcome = outcomeOf(await changes.disable(name, actor), 'disabled', 'is already disabled');
  if (!invocation.flag('endSessions')) return outcome;
  return withEnded(outcome, await changes.endSessions(name, actor));
});

export const enableProvider = onProvider(async (context, provider, { actor, force }) => {
  const { lines } = await requirePassed(context, accessOf(context, provider), force);
  const outcome = await context.get(ProviderChanges).enable(provider.name, actor);
  return { ...outcomeOf(outcome, 'enabled', 'is not disabled'), lines };
});

export const removeProvider = onProvider(async (context, { name }, change, invocation) => {
  const endSessions = invocation.flag('endSessions');
  const { ended, withoutPassword } = await context
    .get(ProviderChanges)
    .remove(name, { ...change, endSessions });
  const json = { changed: true, withoutPassword };
  const lines = withoutPassword === 0 ? [] : [`${withoutPassword} users have no password`];
  const outcome = { text: 'removed, with its identities', lines, json };
  return endSessions ? withEnded(outcome, ended) : outcome;
});

function withEnded(outcome: Outcome, users: number): Outcome {
  const text = `${outcome.text}; every session of ${users} users has ended`;
  return { ...outcome, text, json: { ...outcome.json, usersEnded: users } };
}

export const linkUser = onProvider(async (context, { name }, { actor }, invocation) => {
  const subject = requireOption(invocation, 'subject', SUBJECT);
  const { id, email } = await findUser(context, invocation.parameters[1]!);
  const outcome = await context.get(ProviderChanges).link(name, id, subject, actor);
  const { text, json } = outcomeOf(outcome, `${email} is linked`, `${email} is already linked`);
  return { text, json: { id, email, subject, ...json } };
});

export const unlinkUser = onProvider(async (context, { name }, { actor }, invocation) => {
  const { id, email } = await findUser(context, invocation.parameters[1]!);
  await context.get(ProviderChanges).unlink(name, id, actor);
  return { text: `${email} is unlinked, every session has ended`, json: { id, email, changed: true } };
});

function onProvider(
  work: (context: Context, provider: Provider, change: Change, invocation: Invocation) => Promise<Outcome>,
): CommandDefinition['run'] {
  return (invocation) =>
    withContext(async (context) => {
      const change = invocation.change();
      const provider = await findProvider(context, invocation.parameters[0]!);
      const { name } = provider;
      return reportOn(name, { name }, await work(context, provider, change, invocation));
    });
}

function requireOption<T>(invocation: Invocation, name: string, { parse, expected }: Format<T>): T {
  const value = invocation.read(name, parse, expected);
  if (value === undefined) throw new CannotRunError(`give --${flagOf(name)}: ${expected}`);
  return value;
}

const FORMATS = { ...SETTINGS, title: TITLE, clientId: CLIENT_ID, domains: DOMAINS, required: ON_OR_OFF };

function typedFields(invocation: Invocation): Partial<ProviderFields> {
  const typed = Object.entries<Format<unknown>>(FORMATS).map(
    ([name, { parse, expected }]) => [name, invocation.read(name, parse, expected)] as const,
  );
  return Object.fromEntries(typed.filter(([, value]) => value !== undefined));
}

const MAX_SECRET = 1000;

/** Not an argument: other users of the machine can read those. */
async function readSecret(): Promise<string> {
  const question = { unanswered: 'no secret was entered', isSecret: true };
  const secret = await (process.stdin.isTTY ? ask('Secret of the client: ', question) : readLine('secret'));
  if (secret.trim() !== '' && Buffer.byteLength(secret) <= MAX_SECRET) return secret.trim();
  throw new CannotRunError(`the secret must have 1 to ${MAX_SECRET} bytes`);
}

async function requiredLines(context: Context, provider: Provider): Promise<string[]> {
  const { domains, createUsers } = await viewOf(context, provider);
  const identities = context.get(IdentitiesRepository);
  let unlinked = 0;
  for (const domain of domains) unlinked += await identities.countUnlinked(provider.id, domain);
  const lines = [
    `${unlinked} users of ${domains.join(',')} are not linked, and can no longer log in by password`,
  ];
  if (!createUsers)
    lines.push('--create-users is off: users of these domains whom Accounts does not know cannot log in');
  return lines;
}
