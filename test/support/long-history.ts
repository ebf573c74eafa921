import type { Service } from './service.js';

/** More than the buffers of a connection hold. */
const EVENTS = 8000;
const ROWS_AT_ONCE = 500;
const LONG_TEXT = 'x'.repeat(900);

/** As if the user had done something very often, and long ago. Returns the oldest event, which an export shows last. */
export async function addLongHistory({ db }: Pick<Service, 'db'>, userId: string): Promise<string> {
  const id = (number: number): string =>
    `01a1fbf4-7ea2-724e-${userId.slice(-4)}-${String(number).padStart(12, '0')}`;
  for (let from = 0; from < EVENTS; from += ROWS_AT_ONCE) {
    const numbers = Array.from({ length: ROWS_AT_ONCE }, (_, index) => from + index);
    await db.query(
      `INSERT INTO events (id, type, at, actor_type, user_id, data)
        VALUES ${numbers.map(() => "(?, 'session.started', 1, 'system', ?, ?)").join()}`,
      numbers.flatMap((number) => [id(number), userId, JSON.stringify({ text: LONG_TEXT })]),
    );
  }
  return id(0);
}
