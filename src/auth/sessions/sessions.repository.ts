import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, LessThan, type Repository } from 'typeorm';
import type { UserPrincipal } from '../../access/principal.js';
import { SharedStatement } from '../../database/shared-statement.js';
import { keyTable, padded, placeholders } from '../../database/statements.js';
import { isUniqueViolation } from '../../database/transactions/database-errors.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import { IS_VOID } from './authorization-codes.repository.js';
import { IS_ALIVE, IS_UNREVOKED, JOIN_FAMILY, JOIN_USER_FAMILY_AND_SERVICE } from './alive.js';
import { methodsIn } from '../tokens/access-token.js';
import type { IssuingSession } from '../tokens/token-issuer.js';
import type { User } from '../../users/user.entity.js';
import { FirstUses } from './first-uses.js';
import { isFirstUse, isReplaced } from './refresh-rules.js';
import { Session, SESSIONS_CODE_HASH_KEY } from './session.entity.js';

export type NewSession = Omit<
  Session,
  | 'revokedAt'
  | 'loginId'
  | 'branchId'
  | 'reissues'
  | 'seenGeneration'
  | 'rotatedAt'
  | 'codeHash'
  | 'exchangeKey'
  | 'service'
  | 'boundEpoch'
>;

export interface PresentedCode {
  hash: string;
  service: string | null;
  boundEpoch: number | null;
  /** recognizes a repeated exchange */
  exchangeKey: string | null;
}

export interface OpenedSession
  extends Pick<Session, 'createdAt' | 'exchangeKey'>, Omit<IssuingSession, 'refreshGeneration'> {
  branchRevokedAt: number | null;
  isAlive: 0 | 1 | null;
}

interface Exchange {
  session: NewSession;
  code: PresentedCode;
}

type SignedIn = Pick<
  UserPrincipal,
  'id' | 'email' | 'sessionId' | 'authTime' | 'epoch' | 'service' | 'audience'
> &
  Pick<Session, 'amr' | 'loginId' | 'refreshGeneration' | 'reissues' | 'seenGeneration'> &
  Pick<User, 'emailVerifiedAt' | 'operatorSince' | 'secondFactorAt'>;

const AUDIENCE = 'CASE WHEN s.bound_epoch IS NULL THEN NULL ELSE s.service END AS audience';

const EXCHANGE = `SELECT id, created_at, expires_at, ip, user_agent, code_hash, service, bound_epoch,
    exchange_key
  FROM sessions`;

@Injectable()
export class SessionsRepository {
  private readonly checks = new SharedStatement((ids: string[]) => this.findSignedIn(ids));
  private readonly exchanges = new SharedStatement((exchanges: Exchange[]) => this.exchangeAll(exchanges));

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly transactions: Transactions,
    private readonly firstUses: FirstUses,
  ) {}

  /** Hot: TypeORM takes longer to build this statement. */
  async insert(tx: Transaction, session: NewSession): Promise<void> {
    const { id, userId, authTime, authEpoch, amr, createdAt, expiresAt, refreshGeneration } = session;
    const rest = [session.ip, session.userAgent, session.deviceName, session.provider, session.endsAt];
    await tx.write(
      `INSERT INTO sessions (id, user_id, auth_time, auth_epoch, amr, created_at, expires_at, refresh_generation, ip,
         user_agent, device_name, provider, ends_at) VALUES (${placeholders(13)})`,
      [id, userId, authTime, authEpoch, amr, createdAt, expiresAt, refreshGeneration, ...rest],
    );
  }

  /** The unique key lets a code open one session. Concurrent calls share a statement. */
  exchange(session: NewSession, code: PresentedCode): Promise<boolean> {
    return this.exchanges.run({ session, code });
  }

  /** @param generation of the refresh token that was issued with the access token that was shown, whose first use it notes */
  async findPrincipal(sid: string, generation?: number): Promise<UserPrincipal | undefined> {
    const found = await this.checks.run(sid);
    if (!found) return undefined;
    if (generation !== undefined) {
      if (isReplaced(found, generation)) return undefined;
      if (isFirstUse(found, generation)) this.firstUses.note({ sessionId: sid, generation });
    }
    const { id, email, sessionId, authTime, epoch, service, audience } = found;
    return {
      kind: 'user',
      id,
      email,
      emailVerified: found.emailVerifiedAt !== null,
      sessionId,
      isDelegated: found.loginId !== null,
      amr: methodsIn(found.amr),
      authTime,
      epoch,
      hasSecondFactor: found.secondFactorAt !== null,
      service,
      audience,
      via: [],
      isOperator: found.operatorSince !== null,
    };
  }

  async findOpenedBy(codeHash: string): Promise<OpenedSession | undefined> {
    const sql = `SELECT s.id, s.user_id AS userId, s.auth_time AS authTime, s.auth_epoch AS authEpoch, s.amr,
        s.created_at AS createdAt, s.expires_at AS expiresAt, s.exchange_key AS exchangeKey,
        s.login_id AS loginId, s.branch_id AS branchId, ${AUDIENCE}, head.revoked_at AS branchRevokedAt, ${IS_ALIVE} AS isAlive
      FROM sessions s ${JOIN_USER_FAMILY_AND_SERVICE} WHERE s.code_hash = ?`;
    return (await this.sessions.query<OpenedSession[]>(sql, [codeHash]))[0];
  }

  async findLastExpiry(createdBefore: number): Promise<number | undefined> {
    const last = await this.sessions.findOne({
      where: { createdAt: LessThan(createdBefore), refreshGeneration: 0 },
      select: { id: true, expiresAt: true },
      order: { expiresAt: 'DESC' },
    });
    return last?.expiresAt;
  }

  private async findSignedIn(ids: string[]): Promise<(SignedIn | undefined)[]> {
    const asked = padded(ids, '');
    const rows = await this.sessions.query<SignedIn[]>(
      `SELECT u.id, u.email, s.id AS sessionId, s.login_id AS loginId, s.auth_time AS authTime, s.amr,
          s.auth_epoch AS epoch, s.refresh_generation AS refreshGeneration, s.reissues,
          s.seen_generation AS seenGeneration, s.service, u.email_verified_at AS emailVerifiedAt,
          u.operator_since AS operatorSince, u.second_factor_at AS secondFactorAt,
          ${AUDIENCE}
        FROM sessions s ${JOIN_USER_FAMILY_AND_SERVICE}
        WHERE s.id IN (${placeholders(asked.length)}) AND ${IS_ALIVE}`,
      asked,
    );
    const byId = new Map(rows.map((row) => [row.sessionId, row]));
    return ids.map((id) => byId.get(id));
  }

  // One statement, so that nothing it checks changes before the insert. The session keeps the epoch of its issuer.
  private async exchangeAll(exchanges: Exchange[]): Promise<boolean[]> {
    try {
      const opened = await this.transactions.write(
        `INSERT INTO sessions (id, user_id, auth_time, auth_epoch, created_at, expires_at, ip, user_agent, login_id,
           branch_id, code_hash, amr, service, bound_epoch, exchange_key, ends_at)
         SELECT k.id, s.user_id, s.auth_time, s.auth_epoch, k.created_at, k.expires_at, k.ip, k.user_agent,
           COALESCE(s.login_id, s.id), COALESCE(s.branch_id, k.id), c.hash, s.amr, k.service, k.bound_epoch,
           k.exchange_key, s.ends_at
         FROM ${keyTable(EXCHANGE, 9, exchanges.length)}
           JOIN authorization_codes c ON c.hash = k.code_hash JOIN sessions s ON s.id = c.session_id ${JOIN_FAMILY}
           LEFT JOIN services v ON v.name = k.service AND v.epoch = k.bound_epoch AND v.disabled_at IS NULL
         WHERE c.expires_at > ? AND (k.bound_epoch IS NULL OR v.epoch IS NOT NULL) AND ${IS_UNREVOKED}
           AND NOT ${IS_VOID}`,
        [...exchanges.flatMap(valuesOf), Date.now()],
      );
      if (opened === exchanges.length) return exchanges.map(() => true);
    } catch (error) {
      if (!isUniqueViolation(error, SESSIONS_CODE_HASH_KEY)) throw error;
      if (exchanges.length === 1) return [false];
      return (await Promise.all(exchanges.map((exchange) => this.exchangeAll([exchange])))).flat();
    }
    return this.findExisting(exchanges.map(({ session }) => session.id));
  }

  private async findExisting(ids: string[]): Promise<boolean[]> {
    const found = await this.sessions.find({ where: { id: In(ids) }, select: { id: true } });
    return ids.map((id) => found.some((session) => session.id === id));
  }
}

function valuesOf({ session, code }: Exchange): unknown[] {
  const { id, createdAt, expiresAt, ip, userAgent } = session;
  const { hash, service, boundEpoch, exchangeKey } = code;
  return [id, createdAt, expiresAt, ip, userAgent, hash, service, boundEpoch, exchangeKey];
}
