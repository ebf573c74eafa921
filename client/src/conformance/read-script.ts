import { FAULTS, ROUTES, type Script, SPOILED, usersOf } from './script.ts';

const SCRIPT = ['version', 'id', 'rule', 'why', 'given', 'steps'];
const GIVEN = ['sessions', 'keys', 'members', 'maxStaleness', 'faults'];
const SESSION = ['user', 'login', 'branch', 'amr', 'age', 'ended', 'via'];
const KEY = ['user', 'role', 'org', 'life', 'via'];
const OF_TOKEN = ['session', 'key', 'service', 'claims', 'header', 'spoiled', 'fresh'];
const OF_REQUEST = ['keys', 'org', 'role', 'maxAge', 'amr', 'via', 'ahead', 'target', 'method', 'headers'];
const ASKED = [...OF_TOKEN, ...OF_REQUEST, 'times'];
const SUBJECTS = ['org', 'user', 'session', 'key', 'except', 'service', 'to'];
const CHANGED = ['role', 'life', 'in', 'suspended', 'withoutEpoch', 'keys'];
/** The members that a step of each kind may have, in addition to the one that names the kind. */
const STEPS: Record<string, readonly string[]> = {
  check: ['answer', 'headers', 'held'],
  until: ['answer', 'headers'],
  change: [...SUBJECTS, ...CHANGED, 'times'],
  read: [],
  fault: ['as'],
  heal: [],
  hold: [],
  release: [],
  asked: ['atMost', 'atLeast'],
  secret: [],
  key: [],
  restart: [],
};
const TYPE = /^(session|member|org|account|service|key)\.[a-z_]+$/;

/** A script that cannot be played. The message names the step. */
export class ScriptError extends Error {}

type Members = Record<string, unknown>;

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws ScriptError that names the script and the step, from 1 */
export function requireScript(value: unknown): Script {
  const name = isObject(value) && typeof value['id'] === 'string' ? `script "${value['id']}"` : 'a script';
  const script = members(name, value, SCRIPT);
  if (script['version'] !== 1) fail(name, `version must be 1, and not ${JSON.stringify(script['version'])}`);
  for (const text of ['id', 'rule', 'why']) if (typeof script[text] !== 'string') fail(name, `needs ${text}`);
  if (!Array.isArray(script['steps'])) fail(name, 'needs a list of steps');
  const given = members(`${name}, given`, script['given'] ?? {}, GIVEN);
  requireUsers(`${name}, session`, given['sessions'], SESSION);
  requireUsers(`${name}, key`, given['keys'], KEY);
  const users = usersOf(given);
  const sessions = new Set([...users, ...Object.keys(given['sessions'] ?? {})]);
  const keys = new Set(Object.keys(given['keys'] ?? {}));
  const names = {
    key: keys,
    user: users,
    session: sessions,
    except: sessions,
    org: Object.keys(given['members'] ?? {}),
  };
  for (const [index, step] of (script['steps'] as unknown[]).entries()) {
    const started = isObject(step) && step['change'] === 'session.started' && String(step['session']);
    if (started) sessions.add(started);
    if (isObject(step) && step['change'] === 'key.created') keys.add(String(step['key']));
    requireStep(`${name}, step ${index + 1}`, step, names);
  }
  return script as unknown as Script;
}

function requireUsers(where: string, given: unknown, known: readonly string[]): void {
  for (const [name, one] of Object.entries(given ?? {})) {
    const named = `${where} "${name}"`;
    if (typeof members(named, one, known)['user'] !== 'string') fail(named, 'needs a user');
  }
}

type Names = Record<'user' | 'session' | 'key' | 'except' | 'org', Iterable<string>>;

function requireStep(where: string, value: unknown, names: Names): void {
  if (!isObject(value)) fail(where, 'is no object');
  const kind = Object.keys(STEPS).find((one) => one in value);
  if (kind === undefined) fail(where, `is of no known kind: ${Object.keys(value).join(', ')}`);
  const step = members(where, value, [kind, ...STEPS[kind]!]);
  const subject = step[kind];
  if (kind === 'check' || kind === 'until') {
    const asked = members(where, subject, ASKED);
    requireNames(where, asked, names);
    if ('spoiled' in asked && !SPOILED.includes(asked['spoiled'] as string))
      fail(where, 'has an unknown spoiled');
    const answers: unknown[] = [step['answer']].flat();
    if (!answers.every((one) => typeof one === 'string' && /^\d{3}( \w+)?$/.test(one)))
      fail(where, 'needs an answer, such as "200" or "403 not_a_member"');
  } else if (kind === 'change') {
    if (!TYPE.test(String(subject))) fail(where, `has the unknown change ${JSON.stringify(subject)}`);
    requireNames(where, step, names);
    const needed = { member: ['org', 'user'], org: ['org'], account: ['user'], key: ['key'] }[
      String(subject).split('.')[0]!
    ];
    for (const one of needed ?? []) if (!(one in step)) fail(where, `needs ${one}`);
    if (String(subject).startsWith('session.') && !('user' in step || 'session' in step))
      fail(where, 'needs user');
  } else if (['fault', 'heal', 'hold', 'release', 'asked'].includes(kind)) {
    const isWhole = kind === 'fault' && ['expired', 'restored'].includes(String(subject));
    if (!isWhole && !ROUTES.includes(String(subject)))
      fail(where, `has the unknown route ${String(subject)}`);
    const { as } = step;
    if (kind === 'fault' && !isWhole && typeof as !== 'number' && !FAULTS.includes(as))
      fail(where, `has the unknown fault ${JSON.stringify(as)}`);
  }
}

function requireNames(where: string, step: Members, names: Names): void {
  for (const [kind, known] of Object.entries(names)) {
    const name = step[kind];
    if (name !== undefined && !([...known] as unknown[]).includes(name))
      fail(where, `has the unknown ${kind} ${JSON.stringify(name)}`);
  }
}

function members(where: string, value: unknown, known: readonly string[]): Members {
  if (!isObject(value)) fail(where, 'is no object');
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) fail(where, `has the unknown member "${unknown}"`);
  return value;
}

function fail(where: string, what: string): never {
  throw new ScriptError(`${where}: ${what}`);
}
