import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, LessThan, Not, type Repository } from 'typeorm';
import type { UserPrincipal } from '../../access/principal.js';
import { hotStatement } from '../../database/hot-statements.js';
import { byColumn, Lookup, lookupStatement, padded, places } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import { BATCH } from '../../jobs/batch.js';
import { methodsIn, storedMethods } from './authentication-methods.js';
import { IS_ALIVE, JOIN_USER_PARENT_AND_SERVICE } from './alive.js';
import type { NewSession } from './new-session.js';
import { Session } from './session.entity.js';

export interface OpenedSession {
  id: string;
  userId: string;
  descendantsRevokedAt: number | null;
}

export interface Descendant {
  id: string;
  revokedAt: number | null;
}

export type UnrevokedSession = Pick<Session, 'id' | 'authEpoch' | 'expiresAt'>;

export interface ExpiredSession {
  id: string;
  parentId: string | null;
  expiresAt: number;
}

type SignedIn = Omit<UserPrincipal, 'kind' | 'amr' | 'emailVerified' | 'isOperator'> & {
  amr: Session['amr'];
  emailVerifiedAt: number | null;
  operatorSince: number | null;
};

/** padded to 512 ids */
export const PAGE = 500;

const FIND_SIGNED_IN = lookupStatement<string, SignedIn>('the session check', {
  sql: (size) => `SELECT u.id, u.email, s.id AS sessionId, s.parent_id AS parentId, s.auth_time AS authTime,
      s.amr, s.auth_epoch AS epoch, s.service, u.email_verified_at AS emailVerifiedAt,
      u.operator_since AS operatorSince,
      CASE WHEN s.bound_epoch IS NULL THEN NULL ELSE s.service END AS audience
    FROM sessions s ${JOIN_USER_PARENT_AND_SERVICE}
    WHERE s.id IN (${places(size)}) AND ${IS_ALIVE}`,
  ...byColumn('sessionId'),
});

const FIND_OPENED = lookupStatement<string, OpenedSession & { hash: string }>(
  'the look-up of what a code opened',
  {
    sql: (
      size,
    ) => `SELECT code_hash AS hash, id, user_id AS userId, descendants_revoked_at AS descendantsRevokedAt
    FROM sessions WHERE code_hash IN (${places(size)})`,
    ...byColumn('hash'),
  },
);

/** A full page of several parents is no prefix by id: the caller then splits the parents. */
const findDescendants = (size: number): string => `SELECT id, revoked_at AS revokedAt FROM sessions
  WHERE parent_id IN (${places(size)}) AND id > ? AND descendants_revoked_at IS NULL
  ORDER BY parent_id, id LIMIT ${PAGE}`;
hotStatement('the search for what was derived from a session', findDescendants(1), ['', '']);
hotStatement('the search for what was derived from several', findDescendants(2), ['', '', '']);

const findUnrevoked = (size: number): string => `SELECT id, auth_epoch AS authEpoch, expires_at AS expiresAt
  FROM sessions WHERE id IN (${places(size)}) AND revoked_at IS NULL`;
hotStatement('the look at the sessions to revoke', findUnrevoked(2), ['', '']);

/** The plain range on `expires_at` makes the engines use the index. */
const FIND_EXPIRED = hotStatement(
  'the clean-up of sessions',
  `SELECT id, parent_id AS parentId, expires_at AS expiresAt FROM sessions
    WHERE expires_at <= ? AND (expires_at < ? OR id < ?) ORDER BY expires_at DESC, id DESC LIMIT ${BATCH}`,
  [0, 0, ''],
);

// References within the batch do not count. The code that opened a session must be gone, or it could open another.
// MariaDB reads the whole table for EXISTS, once the sessions of a batch are of one parent.
const findReferred = (size: number): string => `SELECT s.id FROM sessions s WHERE s.id IN (${places(size)})
  AND ((SELECT d.id FROM sessions d WHERE d.parent_id = s.id AND d.id NOT IN (${places(size)})
      ORDER BY d.parent_id, d.id LIMIT 1) IS NOT NULL
    OR (SELECT c.hash FROM authorization_codes c WHERE c.session_id = s.id LIMIT 1) IS NOT NULL
    OR (SELECT o.hash FROM authorization_codes o WHERE o.hash = s.code_hash LIMIT 1) IS NOT NULL)`;
hotStatement('the search for what refers to a session', findReferred(2), ['', '', '', '']);

@Injectable()
export class SessionsRepository {
  private readonly signedIn: Lookup<string, SignedIn>;
  private readonly opened: Lookup<string, OpenedSession & { hash: string }>;

  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {
    this.signedIn = new Lookup(FIND_SIGNED_IN, sessions);
    this.opened = new Lookup(FIND_OPENED, sessions);
  }

  /** Written by hand since it was measured hot: TypeORM's own call takes longer to write the statement. */
  async insert(transaction: Transaction, sessions: readonly NewSession[]): Promise<void> {
    await transaction.write(
      `INSERT INTO sessions (id, user_id, auth_time, auth_epoch, amr, created_at, expires_at, refresh_generation, ip,
         user_agent, device_name) VALUES ${sessions.map(() => `(${places(11)})`).join(', ')}`,
      sessions.flatMap(rowOf),
    );
  }

  async findPrincipal(id: string): Promise<UserPrincipal | undefined> {
    const found = await this.signedIn.find(id);
    if (!found) return undefined;
    const { amr, emailVerifiedAt, operatorSince, ...principal } = found;
    return {
      ...principal,
      kind: 'user',
      amr: methodsIn(amr),
      emailVerified: emailVerifiedAt !== null,
      isOperator: operatorSince !== null,
    };
  }

  findOpenedBy(codeHash: string): Promise<OpenedSession | undefined> {
    return this.opened.find(codeHash);
  }

  findChildren(parents: readonly string[], after: string): Promise<Descendant[]> {
    const ids = padded(parents, '');
    return this.sessions.query<Descendant[]>(findDescendants(ids.length), [...ids, after]);
  }

  /** Nobody else revokes those found until COMMIT. */
  lockUnrevoked(transaction: Transaction, ids: readonly string[]): Promise<UnrevokedSession[]> {
    const asked = padded(ids, '');
    return transaction.read(findUnrevoked(asked.length) + transaction.forUpdate, asked);
  }

  async revoke(transaction: Transaction, ids: readonly string[]): Promise<void> {
    await transaction.write(`UPDATE sessions SET revoked_at = ? WHERE id IN (${places(ids.length)})`, [
      Date.now(),
      ...ids,
    ]);
  }

  async markDescendantsRevoked(ids: readonly string[]): Promise<void> {
    await this.sessions.update(
      { id: In(ids), descendantsRevokedAt: IsNull() },
      { descendantsRevokedAt: Date.now() },
    );
  }

  areDescendantsRevoked(id: string): Promise<boolean> {
    return this.sessions.existsBy({ id, descendantsRevokedAt: Not(IsNull()) });
  }

  findExpired(expiresAt: number, beforeId: string): Promise<ExpiredSession[]> {
    return this.sessions.query<ExpiredSession[]>(FIND_EXPIRED, [expiresAt, expiresAt, beforeId]);
  }

  async findReferred(ids: readonly string[]): Promise<string[]> {
    const asked = padded(ids, '');
    const rows = await this.sessions.query<{ id: string }[]>(findReferred(asked.length), [
      ...asked,
      ...asked,
    ]);
    return rows.map(({ id }) => id);
  }

  /** Finds when the last token expires that was signed before a time for a session that is not refreshed. */
  async findLastExpiry(createdBefore: number): Promise<number | undefined> {
    const last = await this.sessions.findOne({
      where: { createdAt: LessThan(createdBefore), refreshGeneration: 0 },
      select: { id: true, expiresAt: true },
      order: { expiresAt: 'DESC' },
    });
    return last?.expiresAt;
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.sessions.delete([...ids]);
  }
}

function rowOf(session: NewSession): unknown[] {
  const { id, userId, authTime, authEpoch, amr, createdAt, expiresAt } = session;
  const { refreshGeneration, ip, userAgent, deviceName } = session;
  const methods = storedMethods(amr);
  return [
    id,
    userId,
    authTime,
    authEpoch,
    methods,
    createdAt,
    expiresAt,
    refreshGeneration,
    ip,
    userAgent,
    deviceName,
  ];
}
