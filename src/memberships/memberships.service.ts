import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../access/role.js';
import { BatchedQueries, forEachSize, padded } from '../database/batched-queries.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { Member } from './member.entity.js';

/** An organization as one user sees it. */
export interface Membership {
  orgId: string;
  orgName: string;
  /** null: not a member */
  role: Role | null;
}

interface Key {
  orgId: string;
  userId: string;
}

const NOBODY: Key = { orgId: '', userId: '' };

/**
 * One look-up by primary key after another, each with its place in the question.
 *
 * @param size how many memberships one query asks for
 */
export const findMemberships = forEachSize((size) =>
  Array.from({ length: size }, (_, place) => findMembership(place)).join(' UNION ALL '),
);

function findMembership(place: number): string {
  return `SELECT ${place} AS place, o.id AS orgId, o.name AS orgName, m.role
  FROM orgs o LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ?
  WHERE o.id = ?`;
}

@Injectable()
export class MembershipsService {
  private readonly queries = new BatchedQueries((keys: Key[]) => this.findAll(keys));

  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  /** undefined: there is no such organization */
  async find(orgId: string, userId: string): Promise<Membership | undefined> {
    return isEntityId(orgId) ? this.queries.run({ orgId, userId }) : undefined;
  }

  private async findAll(keys: Key[]): Promise<(Membership | undefined)[]> {
    const asked = padded(keys, NOBODY);
    const rows = await this.members.query<(Membership & { place: number })[]>(
      findMemberships(asked.length),
      asked.flatMap(({ orgId, userId }) => [userId, orgId]),
    );
    const answers = Array<Membership | undefined>(keys.length);
    for (const row of rows) answers[row.place] = row;
    return answers;
  }
}
