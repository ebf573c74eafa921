import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThan, type Repository } from 'typeorm';
import { SharedStatement } from '../../database/shared-statement.js';
import { BATCH, idsOf, inBatches, NOW_MS, padded, placeholders } from '../../database/statements.js';
import { contains, literal, type NewestFound, searchNewest } from '../../database/text-search.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { Org } from './org.entity.js';
import type { NamedPosition } from '../../http/pages.js';

type NamedOrg = Pick<Org, 'id' | 'name'>;

type OrgOfUser = NamedOrg & { userId: string };

export const MAX_SHORT_LIST = 200;
const MAX_SHARED_ROWS = 1000;

// Whether `o` requires a second factor now. Once the event is recorded, `second_factor_due_at` is null: then the nodes of
// a cluster agree, whatever their clocks say.
export const IS_FACTOR_REQUIRED = `(o.second_factor_from IS NOT NULL
  AND COALESCE(o.second_factor_due_at, 0) <= ${NOW_MS})`;

export type OrgRow = Pick<
  Org,
  'name' | 'revision' | 'deletedAt' | 'purgeAt' | 'purgeBeganAt' | 'secondFactorFrom' | 'secondFactorDueAt'
> & {
  isFactorRequired: 0 | 1;
  /** of a member */
  lacksActorFactor: 0 | 1;
};

const ROW = `o.name, o.revision, o.deleted_at AS deletedAt, o.purge_at AS purgeAt, o.purge_began_at AS purgeBeganAt,
  o.second_factor_from AS secondFactorFrom, o.second_factor_due_at AS secondFactorDueAt,
  ${IS_FACTOR_REQUIRED} AS isFactorRequired,
  a.user_id IS NOT NULL AND c.second_factor_at IS NULL AS lacksActorFactor`;

/**
 * What an operation reads together with the row of its organization: the SQL of each fact, and what it joins to the
 * organization `o`, the actor `c` and the actor's membership `a`. The values belong to the joins.
 */
export interface OrgFacts<Facts extends object> {
  columns: { [Name in keyof Facts]: string };
  joins: string;
  values: string[];
}

export const NO_FACTS: OrgFacts<object> = { columns: {}, joins: '', values: [] };

export type ListedOrg = Pick<Org, 'id' | 'name' | 'createdAt' | 'deletedAt' | 'purgeAt'>;

/** What services learn of an organization. */
export type DirectoryOrg = Pick<Org, 'id' | 'name' | 'revision'>;

const DIRECTORY_VIEW = { id: true, name: true, revision: true } as const;

export interface OrgSearch {
  prefix: string;
  after: NamedPosition | undefined;
}

const LISTED = 'id, name, created_at AS createdAt, deleted_at AS deletedAt, purge_at AS purgeAt';

const END = '\u{10ffff}';

/** Callers that change an organization hold its lock. */
@Injectable()
export class OrgsRepository {
  private readonly shortLists = new SharedStatement((userIds: string[]) => this.findShortLists(userIds));

  constructor(@InjectRepository(Org) private readonly orgs: Repository<Org>) {}

  async insert(tx: Transaction, org: Pick<Org, 'id' | 'name' | 'createdAt'>): Promise<void> {
    // Hot: TypeORM takes longer to build this statement than the database to run it.
    const sql = 'INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, ?)';
    await tx.write(sql, [org.id, org.name, org.createdAt]);
  }

  /** Locks organizations, even deleted ones, until COMMIT. One order for every caller prevents deadlocks. */
  async raiseRevisions(tx: Transaction, ids: readonly string[]): Promise<void> {
    for await (const batch of inBatches(ids.toSorted())) {
      await tx.write(
        `UPDATE orgs SET revision = revision + 1 WHERE id IN (${placeholders(batch.length)})`,
        batch,
      );
    }
  }

  async findWith<Facts extends object>(
    tx: Transaction,
    id: string,
    actorId: string,
    { columns, joins, values }: OrgFacts<Facts>,
  ): Promise<(OrgRow & Facts) | undefined> {
    const facts = Object.entries<string>(columns).map(([name, sql]) => `, ${sql} AS ${name}`);
    const sql = `SELECT ${ROW}${facts.join('')}
      FROM orgs o LEFT JOIN users c ON c.id = ? LEFT JOIN members a ON a.org_id = o.id AND a.user_id = c.id
        ${joins} WHERE o.id = ?`;
    return (await tx.read<OrgRow & Facts>(sql, [actorId, ...values, id]))[0];
  }

  async delete(tx: Transaction, ids: readonly string[], deletedAt: number, purgeAt: number): Promise<void> {
    for await (const batch of inBatches(ids)) {
      await tx.write(
        `UPDATE orgs SET deleted_at = ?, deleted_name = name, purge_at = ? WHERE id IN (${placeholders(batch.length)})`,
        [deletedAt, purgeAt, ...batch],
      );
    }
  }

  async restore(tx: Transaction, id: string): Promise<void> {
    const sql = 'UPDATE orgs SET deleted_at = NULL, deleted_name = NULL, purge_at = NULL WHERE id = ?';
    await tx.write(sql, [id]);
  }

  async rename(tx: Transaction, id: string, name: string): Promise<void> {
    await tx.write('UPDATE orgs SET name = ? WHERE id = ?', [name, id]);
  }

  async requireSecondFactor(tx: Transaction, id: string, from: number | null): Promise<void> {
    const sql = 'UPDATE orgs SET second_factor_from = ?, second_factor_due_at = ? WHERE id = ?';
    await tx.write(sql, [from, from, id]);
  }

  async findFactorDue(): Promise<string[]> {
    const sql = `SELECT id FROM orgs WHERE second_factor_due_at <= ${NOW_MS}
      ORDER BY second_factor_due_at LIMIT ${BATCH}`;
    return idsOf(await this.orgs.query(sql));
  }

  async endFactorDue(tx: Transaction, id: string): Promise<void> {
    await tx.write('UPDATE orgs SET second_factor_due_at = NULL WHERE id = ?', [id]);
  }

  find(id: string): Promise<Org | null> {
    return this.orgs.findOneBy({ id });
  }

  async findAll(ids: readonly string[]): Promise<Org[]> {
    return ids.length === 0 ? [] : this.orgs.findBy({ id: In(ids) });
  }

  findNamed(name: string, limit: number): Promise<Org[]> {
    return this.orgs.find({ where: { name }, order: { id: 'ASC' }, take: limit });
  }

  findAfter(id: string, limit: number): Promise<Org[]> {
    return this.orgs.find({ where: { id: MoreThan(id) }, order: { id: 'ASC' }, take: limit });
  }

  findPage({ prefix, after }: OrgSearch, limit: number, onlyDeleted: boolean): Promise<ListedOrg[]> {
    const { name, id } = after?.name.startsWith(prefix) ? after : { name: prefix, id: '' };
    const column = onlyDeleted ? 'deleted_name' : 'name';
    // The plain range on the name makes the engines use the index.
    return this.orgs.query<ListedOrg[]>(
      `SELECT ${LISTED} FROM orgs WHERE ${column} >= ? AND ${column} < ? AND (${column} > ? OR id > ?)
        ORDER BY ${column}, id LIMIT ?`,
      [name, prefix + END, name, id, limit],
    );
  }

  /** Finds organizations with a part of their name, without those whose name begins with it. */
  searchNewest(part: string, isDeleted: boolean | undefined): Promise<NewestFound<ListedOrg>> {
    const status = isDeleted === undefined ? '' : ` AND deleted_at IS ${isDeleted ? 'NOT ' : ''}NULL`;
    return searchNewest(this.orgs, {
      table: 'orgs',
      columns: LISTED,
      where: `${contains(this.orgs, 'name')} AND SUBSTR(name, 1, ?) <> ?${status}`,
      values: [`%${literal(part)}%`, [...part].length, part],
    });
  }

  findInDirectory(ids: readonly string[]): Promise<DirectoryOrg[]> {
    const asked = padded(ids, '');
    const sql = `SELECT id, name, revision FROM orgs WHERE id IN (${placeholders(asked.length)}) AND deleted_at IS NULL`;
    return this.orgs.query<DirectoryOrg[]>(sql, asked);
  }

  listDirectory(afterId = '', limit: number): Promise<DirectoryOrg[]> {
    const where = { id: MoreThan(afterId), deletedAt: IsNull() };
    return this.orgs.find({ where, select: DIRECTORY_VIEW, order: { id: 'ASC' }, take: limit });
  }

  async withNames<Of extends Pick<Org, 'id'>>(orgs: readonly Of[]): Promise<(Of & NamedOrg)[]> {
    const names = new Map<string, string>();
    for await (const batch of inBatches(orgs.map(({ id }) => id))) {
      const found = await this.orgs.find({ where: { id: In([...batch]) }, select: { id: true, name: true } });
      for (const { id, name } of found) names.set(id, name);
    }
    return orgs.map((org) => ({ ...org, name: names.get(org.id) ?? '' }));
  }

  async findDue(now: number): Promise<string | undefined> {
    const sql = 'SELECT id FROM orgs WHERE purge_at <= ? ORDER BY purge_at LIMIT 1';
    return (await this.orgs.query<{ id: string }[]>(sql, [now]))[0]?.id;
  }

  async beginPurge(tx: Transaction, id: string, now: number): Promise<void> {
    await tx.write('UPDATE orgs SET purge_began_at = ? WHERE id = ?', [now, id]);
  }

  async purge(tx: Transaction, id: string): Promise<void> {
    await tx.write('DELETE FROM orgs WHERE id = ?', [id]);
  }

  findShortListOfUser(userId: string): Promise<NamedOrg[] | undefined> {
    return this.shortLists.run(userId);
  }

  private async findShortLists(userIds: string[]): Promise<(NamedOrg[] | undefined)[]> {
    const distinct = [...new Set(userIds)];
    const rows = await this.findOrgsOf(distinct);
    const lists = Map.groupBy(rows, ({ userId }) => userId);
    // Rows are in the order of users, so only the lists from the last user on can be incomplete.
    const lastId = rows.length > MAX_SHARED_ROWS ? rows.at(-1)!.userId : undefined;
    for (const userId of distinct) {
      const isLong = (lists.get(userId) ?? []).length > MAX_SHORT_LIST;
      if (lastId !== undefined && userId >= lastId && !isLong)
        lists.set(userId, await this.findOrgsOf([userId]));
    }
    return userIds.map((userId) => shortOnly(lists.get(userId) ?? []));
  }

  /** LEFT preserves the join order if one user is in most organizations. May cut the last list. */
  private findOrgsOf(userIds: readonly string[]): Promise<OrgOfUser[]> {
    const ids = padded(userIds, '');
    return this.orgs.query<OrgOfUser[]>(
      `SELECT m.user_id AS userId, o.id, o.name FROM members m LEFT JOIN orgs o ON o.id = m.org_id
        WHERE m.user_id IN (${placeholders(ids.length)}) AND o.deleted_at IS NULL
        ORDER BY m.user_id, m.joined_at, m.org_id LIMIT ${MAX_SHARED_ROWS + 1}`,
      ids,
    );
  }
}

function shortOnly(list: OrgOfUser[]): NamedOrg[] | undefined {
  return list.length > MAX_SHORT_LIST ? undefined : list.map(({ id, name }) => ({ id, name }));
}
