import { PasswordSetting } from '../../accounts/password-reset.js';
import { Env } from '../../config/env.js';
import { randomBytes } from 'node:crypto';
import { ask, readLine } from '../command/ask.js';
import { CannotRunError } from '../command/definition.js';
import { BREACHED_PASSWORD, BreachedPasswords } from '../../auth/passwords/breached-passwords.js';
import { loadHashEngine } from '../../auth/passwords/hash-engines.js';
import { normalizePassword, passwordFault } from '../../auth/passwords/password-policy.js';
import { RefusedError } from '../../problems/problem.js';
import { onUser } from '../command/context.js';

const GENERATED_LENGTH = 20;
/** as many as PASSWORD_MIN_LENGTH may require */
const RANDOM_BYTES = 96;

export const setPassword = onUser(async (context, { id, email }, { actor, force }, invocation) => {
  const env = context.get(Env);
  const generated = invocation.flag('generate') ? generatePassword(env) : undefined;
  const password = normalizePassword(generated ?? (await readPassword()));
  const fault = passwordFault(password, email, env);
  if (fault !== undefined) throw new RefusedError(`the password ${fault}`);
  const breached = new BreachedPasswords(env);
  if (generated === undefined && !force && (await breached.isBreached(password, id)))
    throw new RefusedError(`the password ${BREACHED_PASSWORD}, or use --force`);
  const hash = await (await loadHashEngine()).hash(password, env.argon2);
  const { kind } = await context.get(PasswordSetting).setByOperator(id, hash, actor);
  const changed = kind === 'done';
  const text = 'the password is set, every session has ended';
  const unchecked = 'the password was not checked: the list of breached passwords cannot be read';
  if (generated === undefined)
    return { text, lines: breached.degraded ? [unchecked] : [], json: { changed } };
  return { text, lines: [`password: ${generated}`], json: { changed, password: generated } };
});

export function generatePassword({ passwordMinLength }: Env): string {
  const length = Math.max(GENERATED_LENGTH, passwordMinLength);
  return randomBytes(RANDOM_BYTES).toString('base64url').slice(0, length);
}

async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return readLine('password', ', or use --generate');
  const question = { unanswered: 'no password was entered', isSecret: true };
  const first = await ask('New password: ', question);
  if ((await ask('Again: ', question)) !== first) throw new CannotRunError('the two passwords differ');
  return first;
}
