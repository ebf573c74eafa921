import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { MAX_BATCH_SIZE, SharedStatement } from '../../database/shared-statement.js';
import { inBatches, padded, places } from '../../database/batches.js';
import { hotStatement } from '../../database/hot-statements.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { Org } from './org.entity.js';

interface ListedOrg {
  id: string;
  name: string;
}

interface OrgOfUser extends ListedOrg {
  userId: string;
}

/** Longer lists are read in pages. */
export const MAX_SHORT_LIST = 200;
const MAX_SHARED_ROWS = 1000;

/** Times are epoch milliseconds. */
export type OrgRow = Pick<Org, 'id' | 'name' | 'revision' | 'deletedAt' | 'purgeAt' | 'purgeBeganAt'>;

const FIND = `SELECT id, name, revision, deleted_at AS deletedAt, purge_at AS purgeAt,
  purge_began_at AS purgeBeganAt FROM orgs WHERE id = ?`;

/** LEFT preserves the join order where one user is in most organizations. The last list may be cut. */
const findOrgsOfUsers = (size: number): string =>
  `SELECT m.user_id AS userId, o.id, o.name
    FROM members m LEFT JOIN orgs o ON o.id = m.org_id
    WHERE m.user_id IN (${places(size)}) AND o.deleted_at IS NULL
    ORDER BY m.user_id, m.joined_at, m.org_id LIMIT ${MAX_SHARED_ROWS + 1}`;
hotStatement('the organizations of a user', findOrgsOfUsers(2), ['', '']);

@Injectable()
export class OrgsRepository {
  private readonly shortLists = new SharedStatement(
    (userIds: string[]) => this.findShortLists(userIds),
    () => Math.max(1, Math.min(MAX_BATCH_SIZE, Math.floor(MAX_SHARED_ROWS / this.usualLength))),
  );
  /** average of the last lists; the next ones are probably like them */
  private usualLength = 1;

  constructor(@InjectRepository(Org) private readonly orgs: Repository<Org>) {}

  async insert(transaction: Transaction, org: Pick<Org, 'id' | 'name' | 'createdAt'>): Promise<void> {
    // Measured hot: TypeORM takes longer to build this statement than the database to run it.
    await transaction.write('INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, ?)', [
      org.id,
      org.name,
      org.createdAt,
    ]);
  }

  /** Locks the organization, a deleted one too, until COMMIT: see `inOrg`, the only caller. */
  async raiseRevision(transaction: Transaction, id: string): Promise<void> {
    await transaction.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [id]);
  }

  /** Locks in one order for every caller, against deadlocks. */
  async raiseRevisions(transaction: Transaction, ids: readonly string[]): Promise<void> {
    for await (const batch of inBatches(ids.toSorted())) {
      await transaction.write(
        `UPDATE orgs SET revision = revision + 1 WHERE id IN (${places(batch.length)})`,
        batch,
      );
    }
  }

  async findIn(transaction: Transaction, id: string): Promise<OrgRow | undefined> {
    return (await transaction.read<OrgRow>(FIND, [id]))[0];
  }

  /** The caller holds the lock. */
  async delete(
    transaction: Transaction,
    ids: readonly string[],
    deletedAt: number,
    purgeAt: number,
  ): Promise<void> {
    for await (const batch of inBatches(ids)) {
      await transaction.write(
        `UPDATE orgs SET deleted_at = ?, deleted_name = name, purge_at = ? WHERE id IN (${places(batch.length)})`,
        [deletedAt, purgeAt, ...batch],
      );
    }
  }

  /** The caller holds the lock. */
  async restore(transaction: Transaction, id: string): Promise<void> {
    await transaction.write(
      'UPDATE orgs SET deleted_at = NULL, deleted_name = NULL, purge_at = NULL WHERE id = ?',
      [id],
    );
  }

  /** The caller holds the lock. */
  async rename(transaction: Transaction, id: string, name: string): Promise<void> {
    await transaction.write('UPDATE orgs SET name = ? WHERE id = ?', [name, id]);
  }

  /** @returns undefined for a list longer than `MAX_SHORT_LIST` */
  findShortListOfUser(userId: string): Promise<ListedOrg[] | undefined> {
    return this.shortLists.run(userId);
  }

  /** Reads all lists at once, and then one by one those that did not fit into the rows of one query. */
  private async findShortLists(userIds: string[]): Promise<(ListedOrg[] | undefined)[]> {
    const distinct = [...new Set(userIds)];
    const ids = padded(distinct, '');
    const rows = await this.orgs.query<OrgOfUser[]>(findOrgsOfUsers(ids.length), ids);
    this.usualLength = Math.max(1, rows.length / distinct.length);
    const lists = new Map<string, ListedOrg[]>();
    for (const { userId, id, name } of rows) {
      const list = lists.get(userId);
      if (list) list.push({ id, name });
      else lists.set(userId, [{ id, name }]);
    }
    if (rows.length <= MAX_SHARED_ROWS) return userIds.map((userId) => shortOnly(lists.get(userId) ?? []));

    const cut = rows.at(-1)!.userId;
    const short = new Map<string, ListedOrg[] | undefined>();
    for (const userId of distinct) {
      const list = lists.get(userId);
      const isKnown = list && (userId !== cut || list.length > MAX_SHORT_LIST);
      short.set(userId, isKnown ? shortOnly(list) : await this.findShortListAlone(userId));
    }
    return userIds.map((userId) => short.get(userId));
  }

  private async findShortListAlone(userId: string): Promise<ListedOrg[] | undefined> {
    const rows = await this.orgs.query<OrgOfUser[]>(findOrgsOfUsers(1), [userId]);
    return shortOnly(rows.map(({ id, name }) => ({ id, name })));
  }
}

function shortOnly(list: ListedOrg[]): ListedOrg[] | undefined {
  return list.length > MAX_SHORT_LIST ? undefined : list;
}
