import type { AuthenticationMethod, Role } from '../api.gen.ts';
import { SERVICE_NAME } from '../service/claims.ts';
import type { UserRequirement } from '../service/requirement.ts';

const LONGEST_TARGET = 8_192;
const ROLES: readonly string[] = ['member', 'admin', 'owner'] satisfies Role[];
const METHODS: readonly string[] = ['pwd', 'fed', 'otp'] satisfies AuthenticationMethod[];

/** Each parameter can only narrow what is admitted, because a proxy may copy a client's text into the target. */
const OF_USERS = ['org', 'orgAt', 'role', 'maxAge', 'amr', 'via'];
/** What admits more than users is a path: no proxy makes it from a client's text. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  check: OF_USERS,
  'check-keys': OF_USERS,
  'check-service': ['from'],
};

/** What a check requires, as options of the guard. */
export type Requirement = 'any user' | UserRequirement | MemberRequirement | { from: string[] };

type MemberRequirement = UserRequirement & { orgId: string; role?: Role };

/** The proxy asked in a way that means nothing. `detail` has no text of the client but the name of a parameter. */
export class InvalidCheck extends Error {}

type Values = Map<string, string>;

/**
 * Reads a target such as `/check?org=…&role=admin`, or `/check/orgAt=2&role=admin/orgs/…` with the original path.
 *
 * @param forwarded the headers `X-Forwarded-Uri` of the request
 * @returns undefined if the target is not a check
 * @throws InvalidCheck
 */
export function requirementOf(target: string, forwarded: readonly string[] = []): Requirement | undefined {
  const [, name = '', mark, rest = ''] = /^\/([a-z-]+)(?:([?/])([^]*))?$/.exec(target) ?? [];
  if (!Object.hasOwn(PARAMETERS, name)) return undefined;
  if (target.length > LONGEST_TARGET) throw new InvalidCheck('the target is longer than 8 KiB');
  if (target.includes('#')) throw new InvalidCheck('the target contains #');
  if (forwarded.length > 1) throw new InvalidCheck('X-Forwarded-Uri is sent twice');
  const known = PARAMETERS[name]!;
  if (mark !== '/') return requirementFor(name, valuesOf(rest, known), forwarded[0]);
  const end = /[/?]|$/.exec(rest)!.index;
  const segment = rest.slice(0, end);
  if (segment === '') throw new InvalidCheck('the path has no requirement: - requires nothing');
  return requirementFor(name, valuesOf(segment === '-' ? '' : segment, known), rest.slice(end));
}

/** Nothing here is lenient: a repeated parameter could be the client's. */
function valuesOf(text: string, known: readonly string[]): Values {
  const values: Values = new Map();
  for (const part of text === '' ? [] : text.split('&')) {
    const [name = '', value, ...more] = part.split('=');
    // A name that is not a word could be a token.
    if (!known.includes(name))
      throw new InvalidCheck(`unknown parameter ${/^[a-z_-]{1,20}$/i.exec(name)?.[0] ?? '(not shown)'}`);
    if (values.has(name)) throw new InvalidCheck(`${name} is repeated`);
    if (value === undefined || more.length > 0) throw new InvalidCheck(`${name} must have one value`);
    values.set(name, decoded(name, value));
  }
  return values;
}

function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new InvalidCheck(`${name} is percent-encoded wrongly`);
  }
}

function requirementFor(name: string, values: Values, original: string | undefined): Requirement {
  if (name === 'check-service') return { from: namesOf('from', values.get('from') ?? '') };
  const required = { ...userRequirementOf(values), ...(name === 'check-keys' && { keys: true }) };
  const orgId = orgOf(values, original);
  const role = values.get('role') as Role | undefined;
  if (role !== undefined && !ROLES.includes(role))
    throw new InvalidCheck('role must be member, admin or owner');
  if (orgId !== undefined) return { ...required, orgId, ...(role !== undefined && { role }) };
  if (role !== undefined) throw new InvalidCheck('role needs org or orgAt');
  return Object.keys(required).length === 0 ? 'any user' : required;
}

function userRequirementOf(values: Values): UserRequirement {
  const [maxAge, amr, via] = ['maxAge', 'amr', 'via'].map((name) => values.get(name));
  if (maxAge !== undefined && !/^\d{1,9}$/.test(maxAge))
    throw new InvalidCheck('maxAge must be a whole number of seconds');
  const methods = amr?.split(',');
  if (methods && !methods.every((method) => METHODS.includes(method)))
    throw new InvalidCheck(`amr must be one of ${METHODS.join(', ')}, or several with commas between them`);
  return {
    ...(maxAge !== undefined && { maxAge: Number(maxAge) }),
    ...(methods && { amr: methods as AuthenticationMethod[] }),
    // Without a name, only users who came directly pass.
    ...(via !== undefined && { via: via === '' ? [] : namesOf('via', via) }),
  };
}

function namesOf(name: string, text: string): string[] {
  const names = text.split(',');
  if (names.every((one) => SERVICE_NAME.test(one))) return names;
  throw new InvalidCheck(`${name} must be names of services, with commas`);
}

/** Returns a text that is not an id if the path has no organization, so that no user is a member. */
function orgOf(values: Values, original: string | undefined): string | undefined {
  const orgAt = values.get('orgAt');
  if (orgAt === undefined) return values.get('org');
  if (values.has('org')) throw new InvalidCheck('org and orgAt exclude each other');
  if (!/^[1-9]\d?$/.test(orgAt)) throw new InvalidCheck('orgAt must be a number from 1 to 99');
  if (original === undefined)
    throw new InvalidCheck('orgAt needs the header X-Forwarded-Uri, or the original path');
  return segmentOf(original.split('?', 1)[0]!, Number(orgAt));
}

/** Programs differ in how they read such paths: one may take another segment for the organization. */
const AMBIGUOUS = /\/\/|\\|%2e|%2f|%5c|\/\.{1,2}(?:[/;]|$)/i;

function segmentOf(path: string, place: number): string {
  return path.startsWith('/') && !AMBIGUOUS.test(path) ? (path.split('/')[place] ?? '') : '';
}
