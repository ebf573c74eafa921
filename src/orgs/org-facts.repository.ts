import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../access/role.js';
import type { Transaction } from '../database/transaction.js';
import { Org } from './org.entity.js';

export interface OrgFacts {
  revision: number;
  name: string;
  /** null: not a member */
  actorRole: Role | null;
}

@Injectable()
export class OrgFactsRepository {
  constructor(@InjectRepository(Org) private readonly orgs: Repository<Org>) {}

  async findIn(transaction: Transaction, id: string, actorId: string): Promise<OrgFacts | undefined> {
    const rows = await transaction.read<OrgFacts>(
      `SELECT o.revision, o.name, a.role AS actorRole
         FROM orgs o LEFT JOIN members a ON a.org_id = o.id AND a.user_id = ?
         WHERE o.id = ? AND o.deleted_at IS NULL${transaction.forUpdate}`,
      [actorId, id],
    );
    return rows[0];
  }

  /** The caller holds the lock. */
  async rename(transaction: Transaction, id: string, name: string): Promise<void> {
    await transaction.of(this.orgs).update({ id }, { name });
  }
}
