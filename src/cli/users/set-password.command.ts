import { randomBytes } from 'node:crypto';
import { Transactions } from '../../database/transactions.js';
import { RefusedError } from '../../problems/problem.js';
import { loadArgon2Engine } from '../../auth/passwords/argon2-engine.js';
import { PasswordChanges } from '../../auth/passwords/password-changes.js';
import { passwordFault } from '../../auth/passwords/password-policy.js';
import { normalizePassword } from '../../auth/passwords/password-text.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';
import { findUser } from './find-user.js';
import { readPassword } from './read-password.js';

/** 120 random bits, which are 20 characters in base64url */
const GENERATED_BYTES = 15;

export function setPassword(invocation: Invocation): Promise<Report> {
  const generated =
    invocation.options['generate'] === true ? randomBytes(GENERATED_BYTES).toString('base64url') : undefined;
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const { id, email } = await findUser(services, invocation.parameters[0]!);
    const password = normalizePassword(generated ?? (await readPassword()));
    const fault = passwordFault(password, email, services.env);
    if (fault !== undefined) throw new RefusedError(`the password ${fault}`);
    const hash = await (await loadArgon2Engine()).hash(password, services.env.argon2);
    const passwords = services.get(PasswordChanges);
    const changed = await services
      .get(Transactions)
      .run((transaction) => passwords.set(transaction, { id, email }, hash, actor));
    const lines = [`${email} (${id}): the password is set, every session has ended`];
    if (generated !== undefined) lines.push(`password: ${generated}`);
    return { lines, json: [{ id, email, changed, ...(generated !== undefined && { password: generated }) }] };
  });
}
