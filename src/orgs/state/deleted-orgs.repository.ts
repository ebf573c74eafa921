import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, Not, type Repository } from 'typeorm';
import { hotStatement } from '../../database/hot-statements.js';
import { places } from '../../database/batches.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { Org } from './org.entity.js';

const FIND_DUE = hotStatement(
  'the organizations that are to be purged',
  'SELECT id FROM orgs WHERE purge_at <= ? ORDER BY purge_at LIMIT 1',
  [0],
);

const FIND_UNNAMED = hotStatement(
  'the deleted organizations without the name that lists them',
  'SELECT id FROM orgs WHERE purge_at > ? AND deleted_name IS NULL ORDER BY purge_at LIMIT ?',
  [0, 1],
);

const FIND_MEMBERS = hotStatement(
  'members of an organization that is purged',
  'SELECT user_id AS id FROM members WHERE org_id = ? LIMIT ?',
  ['', 1],
);

const FIND_INVITATIONS = hotStatement(
  'invitations of an organization that is purged',
  'SELECT id FROM invitations WHERE org_id = ? LIMIT ?',
  ['', 1],
);

/** Deleted organizations are hidden from every user until restored or purged. Times are epoch milliseconds. */
@Injectable()
export class DeletedOrgsRepository {
  constructor(@InjectRepository(Org) private readonly orgs: Repository<Org>) {}

  /** An older instance that runs beside this one deletes without the name by which deleted ones are listed. */
  async findUnnamed(purgedAfter: number, limit: number): Promise<string[]> {
    const rows = await this.orgs.query<{ id: string }[]>(FIND_UNNAMED, [purgedAfter, limit]);
    return rows.map(({ id }) => id);
  }

  async addNames(ids: readonly string[]): Promise<void> {
    const unnamed = { id: In(ids), deletedAt: Not(IsNull()) };
    await this.orgs.update(unnamed, { deletedName: () => 'name' });
  }

  async findDue(now: number): Promise<string | undefined> {
    const rows = await this.orgs.query<{ id: string }[]>(FIND_DUE, [now]);
    return rows[0]?.id;
  }

  /** Locks like `OrgsRepository.lock`, if it is time to purge; from then on nobody can restore it. */
  async lockDue(transaction: Transaction, id: string, now: number): Promise<boolean> {
    const locked = await transaction.write(
      `UPDATE orgs SET revision = revision + 1, purge_began_at = COALESCE(purge_began_at, ?)
        WHERE id = ? AND purge_at <= ?`,
      [now, id, now],
    );
    return locked === 1;
  }

  async revisionOf(transaction: Transaction, id: string): Promise<number> {
    const [org] = await transaction.read<{ revision: number }>('SELECT revision FROM orgs WHERE id = ?', [
      id,
    ]);
    return org!.revision;
  }

  async deleteMembers(transaction: Transaction, orgId: string, limit: number): Promise<number> {
    const found = await transaction.read<{ id: string }>(FIND_MEMBERS, [orgId, limit]);
    if (found.length === 0) return 0;
    return transaction.write(
      `DELETE FROM members WHERE org_id = ? AND user_id IN (${places(found.length)})`,
      [orgId, ...found.map(({ id }) => id)],
    );
  }

  async deleteInvitations(transaction: Transaction, orgId: string, limit: number): Promise<number> {
    const found = await transaction.read<{ id: string }>(FIND_INVITATIONS, [orgId, limit]);
    if (found.length === 0) return 0;
    return transaction.write(
      `DELETE FROM invitations WHERE id IN (${places(found.length)})`,
      found.map(({ id }) => id),
    );
  }

  async purge(transaction: Transaction, id: string): Promise<void> {
    await transaction.of(this.orgs).delete({ id });
  }
}
