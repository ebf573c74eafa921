import { generateSync } from 'otplib';
import { expect } from 'vitest';
import type { Answer } from './answer.js';
import type { Account } from './personas.js';
import type { Service } from './service.js';

export const SECOND_FACTOR = '/api/me/second-factor';

const STEP_MS = 30_000;

export interface Enrolled {
  secret: string;
  recoveryCodes: string[];
}

/** The code of the moment, or of some steps later, as an app of another make shows it. */
export function appCode(secret: string, stepsLater = 0): string {
  const step = Math.floor(Date.now() / STEP_MS) + stepsLater;
  return generateSync({ secret, epoch: (step * STEP_MS) / 1000 });
}

/** Six digits that are none of the codes about now. */
export function aWrongCode(secret: string): string {
  const near = new Set([-2, -1, 0, 1, 2].map((steps) => appCode(secret, steps)));
  for (let candidate = 0; ; candidate += 1) {
    const digits = String(candidate).padStart(6, '0');
    if (!near.has(digits)) return digits;
  }
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
