import type { Org } from './personas.js';
import type { Service } from './service.js';

const ROWS_AT_ONCE = 500;
/** Long enough that a list of 20,000 does not fit into the buffers of a connection. */
const LONG_DOMAIN = ['x', 'y', 'z'].map((letter) => letter.repeat(60)).join('.');

export function crowdEmail(number: number): string {
  return `u${number}@${LONG_DOMAIN}.example.com`;
}

/** Adds as many members by SQL, who joined before every user else. */
export async function addCrowd(db: Service['db'], org: Org, size: number): Promise<void> {
  const id = (number: number): string => `01a1fbf4-7ea2-724e-b0f0-${String(number).padStart(12, '0')}`;
  for (let from = 0; from < size; from += ROWS_AT_ONCE) {
    const count = Math.min(ROWS_AT_ONCE, size - from);
    const numbers = Array.from({ length: count }, (_, index) => from + index);
    const rows = (places: string): string => numbers.map(() => places).join();
    await db.query(
      `INSERT INTO users (id, email, password_hash, created_at) VALUES ${rows('(?, ?, ?, 1)')}`,
      numbers.flatMap((number) => [id(number), crowdEmail(number), 'none']),
    );
    await db.query(
      `INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES ${rows('(?, ?, ?, ?, ?)')}`,
      numbers.flatMap((number) => [org.id, id(number), crowdEmail(number), 'member', number]),
    );
  }
}
