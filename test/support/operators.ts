import { enrol } from './second-factor.js';
import { aVerifiedAccount } from './inviting.js';
import type { Account } from './personas.js';
import type { Service } from './service.js';

export async function anOperator(service: Service, name = 'operator'): Promise<Account> {
  const account = await aVerifiedAccount(service, name);
  await enrol(account);
  await makeOperator(service, account);
  return account;
}

export async function makeOperator({ db }: Service, { id }: Pick<Account, 'id'>): Promise<void> {
  await db.query('UPDATE users SET operator_since = ? WHERE id = ?', [Date.now(), id]);
}

/** All sessions of the account count as logins with a second factor. */
export async function showSecondFactor({ db }: Service, { id }: Pick<Account, 'id'>): Promise<void> {
  await db.query("UPDATE sessions SET amr = 'pwd otp' WHERE user_id = ?", [id]);
}
