import { expect } from 'vitest';
import type { Answer } from './answer.js';
import type { Account } from './personas.js';
import { AuthenticatorApp } from './second-factor.js';
import type { Service } from './service.js';

export const SECOND_FACTOR = '/api/me/second-factor';

export interface Enrolled {
  secret: string;
  recoveryCodes: string[];
}

/** The code of the moment, or of some steps later. */
export function appCode(secret: string, stepsLater = 0): string {
  return new AuthenticatorApp(secret).at(stepsLater);
}

export function aWrongCode(secret: string): string {
  return new AuthenticatorApp(secret).wrong();
}

export const begin = (by: Account): Promise<Answer<{ secret: string; uri: string }>> =>
  by.post(SECOND_FACTOR, { password: by.password });

export async function aPendingSecret(by: Account): Promise<string> {
  const { status, body, text } = await begin(by);
  expect(status, text).toBe(201);
  return body.secret;
}

/** Sets a second factor up as a client does. The account's own token stays good. */
export async function enrol(by: Account): Promise<Enrolled> {
  const secret = await aPendingSecret(by);
  const { status, body, text } = await by.post<{ recoveryCodes: string[] }>(`${SECOND_FACTOR}/confirm`, {
    code: appCode(secret),
  });
  expect(status, text).toBe(200);
  return { secret, recoveryCodes: body.recoveryCodes };
}

/** As if the codes of about now had not been used: a test need not wait for the next step. */
export async function forgetSteps({ db }: Pick<Service, 'db'>, { id }: Pick<Account, 'id'>): Promise<void> {
  await db.query('UPDATE second_factors SET last_step = 0 WHERE user_id = ?', [id]);
}
