import { readFile } from 'node:fs/promises';
import { generateSync } from 'otplib';
import { expect } from 'vitest';
import { base32, newRecoveryCodes, newTotpSecret } from '../../src/auth/second-factor/codes.js';
import { CHALLENGE_TTL_MS, LoginChallenges } from '../../src/auth/second-factor/login-challenges.js';
import type { KeyFileWatch } from '../../src/auth/tokens/key-file-watch.js';
import { KeyRing, readKeySet } from '../../src/auth/tokens/signing-keys.js';
import { EncryptedSecrets } from '../../src/auth/tokens/derived-keys.js';
import type { Answer } from './answer.js';
import type { Account, Session } from './personas.js';
import { insertRow, insertRows } from './rows.js';
import type { Service } from './service.js';

const UNCHANGED_FILE = { reloadForUnknownKey: () => Promise.resolve() } as KeyFileWatch;
const STEP_MS = 30_000;
/** Before the end of a step the one before it is not used: it could be over when the request arrives. */
const MARGIN_MS = 5000;

/** An authenticator app of another make: otplib is the oracle. */
export class AuthenticatorApp {
  private lastStep = 0;

  constructor(readonly secret: string) {}

  /** Returns a code that was not used yet. Two can be had at any time, three at most times. */
  next(): string {
    if (!this.hasNext()) throw new Error('this app has no code left: use a recovery code');
    this.lastStep = this.nextStep();
    return this.code(this.lastStep);
  }

  hasNext(): boolean {
    return this.nextStep() <= Math.floor(Date.now() / STEP_MS) + 1;
  }

  at(stepsLater = 0): string {
    return this.code(Math.floor(Date.now() / STEP_MS) + stepsLater);
  }

  /** Six digits that are none of the codes that are accepted about now. */
  wrong(): string {
    const near = new Set([-2, -1, 0, 1, 2].map((steps) => this.at(steps)));
    for (let candidate = 0; ; candidate += 1) {
      const digits = String(candidate).padStart(6, '0');
      if (!near.has(digits)) return digits;
    }
  }

  private nextStep(): number {
    const oldest = Math.floor((Date.now() + MARGIN_MS) / STEP_MS) - 1;
    return Math.max(oldest, this.lastStep + 1);
  }

  private code(step: number): string {
    return generateSync({ secret: this.secret, epoch: (step * STEP_MS) / 1000 });
  }
}

export interface Protected<Whose = Account> {
  account: Whose;
  app: AuthenticatorApp;
  recoveryCodes: string[];
}

/** Sets up a second factor in the rows. The session of the account counts as one that has shown it. */
export async function protect<Whose extends { id: string }>(
  service: Pick<Service, 'installation' | 'db'>,
  account: Whose,
): Promise<Protected<Whose>> {
  const { db } = service;
  const secret = newTotpSecret();
  const secrets = new EncryptedSecrets(await keyRingOf(service), 'second factor secrets');
  const now = Date.now();
  const sealed = { user_id: account.id, secret: secrets.encrypt(secret, account.id) };
  await insertRow(db, 'second_factors', { ...sealed, last_step: 0, enabled_at: now });
  const { texts, hashes } = newRecoveryCodes();
  const rows = hashes.map((hash) => ({ user_id: account.id, hash }));
  await insertRows(db, 'recovery_codes', rows);
  await db.query('UPDATE users SET second_factor_at = ? WHERE id = ?', [now, account.id]);
  await db.query("UPDATE sessions SET amr = 'pwd otp' WHERE user_id = ?", [account.id]);
  return { account, app: new AuthenticatorApp(base32(secret)), recoveryCodes: texts };
}

/** Leaves nothing of it. */
export async function unprotect({ db }: Service, { id }: { id: string }): Promise<void> {
  await db.query('UPDATE users SET second_factor_at = NULL WHERE id = ?', [id]);
  await db.query("UPDATE sessions SET amr = 'pwd' WHERE user_id = ?", [id]);
  for (const table of ['second_factors', 'second_factor_failures', 'recovery_codes'])
    await db.query(`DELETE FROM ${table} WHERE user_id = ?`, [id]);
}

/** The keys with which the service itself seals and signs. */
export async function keyRingOf({ installation }: Pick<Service, 'installation'>): Promise<KeyRing> {
  return new KeyRing(readKeySet(await readFile(installation.env['JWT_KEYS_FILE']!, 'utf8')));
}

export async function aChallenge(
  service: Service,
  { email, password }: Pick<Account, 'email' | 'password'>,
): Promise<string> {
  const credentials = { email, password };
  const { status, body, text } = await service.anyone.post<{ challenge: string }>(
    '/api/auth/login',
    credentials,
  );
  expect(status, text).toBe(403);
  return body.challenge;
}

/** The challenge of a login that nobody has begun, or that began at another time. */
export async function challengeFor(
  service: Service,
  userId: string,
  { expiresAt = Date.now() + CHALLENGE_TTL_MS, keys }: { expiresAt?: number; keys?: KeyRing } = {},
): Promise<string> {
  const sql = 'SELECT auth_epoch AS epoch, second_factor_at AS since FROM users WHERE id = ?';
  const [user] = await service.db.query(sql, [userId]);
  return new LoginChallenges(keys ?? (await keyRingOf(service)), UNCHANGED_FILE).write({
    userId,
    authEpoch: Number(user!['epoch']),
    enabledAt: Number(user!['since']),
    expiresAt,
  });
}

export function secondStep(
  service: Service,
  challenge: unknown,
  code: unknown,
  more: object = {},
): Promise<Answer<Session>> {
  return service.anyone.post<Session>('/api/auth/login/second-factor', { challenge, code, ...more });
}

export const SECOND_FACTOR = '/api/me/second-factor';

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
export async function enrol(by: Account) {
  const secret = await aPendingSecret(by);
  const code = { code: appCode(secret) };
  const { status, body, text } = await by.post<{ recoveryCodes: string[] }>(`${SECOND_FACTOR}/confirm`, code);
  expect(status, text).toBe(200);
  return { secret, recoveryCodes: body.recoveryCodes };
}

/** As if the codes of about now had not been used: a test need not wait for the next step. */
export async function forgetSteps({ db }: Pick<Service, 'db'>, { id }: Pick<Account, 'id'>): Promise<void> {
  await db.query('UPDATE second_factors SET last_step = 0 WHERE user_id = ?', [id]);
}
