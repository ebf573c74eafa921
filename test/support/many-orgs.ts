import { newEntityId } from '../../src/identifiers/entity-id.js';
import type { Account } from './personas.js';
import type { Service } from './service.js';

const ROWS_AT_ONCE = 500;

/** Adds as many organizations by SQL, of which the account is the owner. */
export async function addOrgs(
  db: Service['db'],
  { id: userId, email }: Pick<Account, 'id' | 'email'>,
  count: number,
  nameOf = (number: number): string => `Organization ${number}`,
): Promise<void> {
  for (let from = 0; from < count; from += ROWS_AT_ONCE) {
    const orgs = Array.from({ length: Math.min(ROWS_AT_ONCE, count - from) }, (_, index) => ({
      id: newEntityId(),
      name: nameOf(from + index),
      joinedAt: Date.now() + from + index,
    }));
    await db.query(
      `INSERT INTO orgs (id, name, revision, created_at) VALUES ${orgs.map(() => '(?, ?, 1, 1)').join()}`,
      orgs.flatMap(({ id, name }) => [id, name]),
    );
    await db.query(
      `INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES ${orgs.map(() => "(?, ?, ?, 'owner', ?)").join()}`,
      orgs.flatMap(({ id, joinedAt }) => [id, userId, email, joinedAt]),
    );
  }
}
