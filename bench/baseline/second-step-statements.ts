import type { Db } from './db.ts';

export interface LockedFactor {
  email: string;
  secret: string;
  lastStep: number;
  /** of the failures; null before the first attempt */
  count: number | null;
  since: number | null;
}

export const MAX_FAILURES = 10;
export const WINDOW_MS = 15 * 60_000;

/** Attempts of one user wait for one another here. */
export async function lockFactor(
  db: Db,
  userId: string,
  enabledAt: number,
): Promise<LockedFactor | undefined> {
  const [factor] = await db.query<LockedFactor>(
    `SELECT u.email, f.secret, f.last_step AS lastStep, a.count, a.since
     FROM second_factors f JOIN users u ON u.id = f.user_id
     LEFT JOIN second_factor_failures a ON a.user_id = f.user_id AND a.scope = 'login'
     WHERE f.user_id = ? AND u.second_factor_at = ?${db.forUpdate}`,
    [userId, enabledAt],
  );
  return factor;
}

export async function countFailure(db: Db, userId: string, found: LockedFactor, now: number): Promise<void> {
  const isOver = found.since === null || found.since <= now - WINDOW_MS;
  await (found.count === null
    ? db.run("INSERT INTO second_factor_failures (user_id, scope, count, since) VALUES (?, 'login', 1, ?)", [
        userId,
        now,
      ])
    : db.run("UPDATE second_factor_failures SET count = ?, since = ? WHERE user_id = ? AND scope = 'login'", [
        isOver ? 1 : found.count + 1,
        isOver ? now : found.since,
        userId,
      ]));
}

export async function useStep(db: Db, userId: string, step: number): Promise<void> {
  await db.run('UPDATE second_factors SET last_step = ? WHERE user_id = ?', [step, userId]);
}

export async function clearFailures(db: Db, userId: string): Promise<void> {
  await db.run(
    "UPDATE second_factor_failures SET count = 0, since = 0 WHERE user_id = ? AND scope = 'login'",
    [userId],
  );
}
