import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, type Repository } from 'typeorm';
import { idsOf } from '../database/statements.js';
import { type Transaction, Transactions } from '../database/transactions/transactions.js';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import { Mail, type MailKind, type MailPriority, type MailState } from './mail.entity.js';
import { type Excess, findExcess, type LimitedMail } from './mails.limits.js';

export type WaitingMail = Pick<
  Mail,
  'id' | 'kind' | 'recipient' | 'codeId' | 'senderId' | 'priority' | 'attempts'
>;

export interface DueMails<M = WaitingMail> {
  fresh: readonly M[];
  retries: readonly M[];
}

const WAITING = 'id, kind, recipient, code_id AS codeId, sender_id AS senderId, priority, attempts';
const RETRY = `UPDATE mails SET state = 'waiting', next_attempt_at = ?, attempts = 0, ended_at = NULL
  WHERE (expires_at IS NULL OR expires_at > ?) AND`;

const LATEST = 'g';

/** An email belongs to the process that holds its lease. One UPDATE takes a lease, also on Galera. */
@Injectable()
export class MailsRepository {
  constructor(
    @InjectRepository(Mail) private readonly mails: Repository<Mail>,
    private readonly transactions: Transactions,
  ) {}

  async insert(tx: Transaction, mail: Mail): Promise<void> {
    await tx.of(this.mails).insert(mail);
  }

  findExcess(tx: Transaction, mail: LimitedMail, isKnownClient = false): Promise<Excess | undefined> {
    return findExcess((sql, values) => tx.read(sql, values), mail, Date.now(), { isKnownClient });
  }

  async isBeyondLimits(mail: Mail): Promise<boolean> {
    const { id: beforeId, createdAt } = mail;
    const excess = await findExcess((...query) => this.mails.query(...query), mail, createdAt, { beforeId });
    return excess !== undefined;
  }

  async isVerified(tx: Transaction, userId: string, email: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM users WHERE id = ? AND email = ? AND email_verified_at IS NOT NULL';
    return (await tx.read(sql, [userId, email])).length > 0;
  }

  /** Keeps the rows, because registering and deleting an account must not reset the limits of its email. */
  async deleteAddressesOf(tx: Transaction, user: { id: string; email: string }): Promise<void> {
    const mails = tx.of(this.mails);
    await mails.update({ recipient: user.email, kind: 'password_reset' }, { senderId: null });
    await mails.update({ senderId: user.id }, { details: null });
  }

  async findLastTurn(tx: Transaction, senderId: string, priority: MailPriority): Promise<number | undefined> {
    const sql =
      'SELECT state, turn_at AS turnAt FROM mails WHERE sender_id = ? AND priority = ? ORDER BY id DESC LIMIT 1';
    const [last] = await tx.read<Mail>(sql, [senderId, priority]);
    return last?.state === 'waiting' ? last.turnAt : undefined;
  }

  async findDue(priority: MailPriority, now: number, limit: number): Promise<DueMails> {
    const waiting = `SELECT ${WAITING} FROM mails WHERE state = 'waiting' AND priority = ?`;
    return {
      fresh: await this.mails.query(`${waiting} AND next_attempt_at = 0 ORDER BY turn_at LIMIT ?`, [
        priority,
        limit,
      ]),
      retries: await this.mails.query(
        `${waiting} AND next_attempt_at > 0 AND next_attempt_at <= ? ORDER BY next_attempt_at LIMIT ?`,
        [priority, now, limit],
      ),
    };
  }

  async claim(id: string, now: number, leaseUntil: number): Promise<Mail | undefined> {
    const claimed = await this.transactions.write(
      `UPDATE mails SET next_attempt_at = ?, attempts = attempts + 1
        WHERE id = ? AND state = 'waiting' AND next_attempt_at <= ?`,
      [leaseUntil, id, now],
    );
    return claimed === 1 ? ((await this.find(id)) ?? undefined) : undefined;
  }

  async postpone({ id, nextAttemptAt }: Mail, until: number, lastError: string): Promise<void> {
    await this.mails.update({ id, state: 'waiting', nextAttemptAt }, { nextAttemptAt: until, lastError });
  }

  async end({ id }: Mail, state: MailState, lastError: string | null = null): Promise<void> {
    await this.mails.update({ id, state: 'waiting' }, { state, endedAt: Date.now(), lastError });
  }

  /** Keeps the first code, so that every attempt sends the same code. */
  async setCode(tx: Transaction, id: string, codeId: string, codeNumber: number): Promise<void> {
    await tx.of(this.mails).update({ id, codeId: IsNull() }, { codeId, codeNumber });
  }

  async hasWaitedSince(time: number): Promise<boolean> {
    const sql = `SELECT id FROM mails WHERE state = 'waiting' AND id < ? ORDER BY id LIMIT 1`;
    return (await this.mails.query<unknown[]>(sql, [firstEntityIdAt(time)])).length > 0;
  }

  async countByState(): Promise<Partial<Record<MailState, number>>> {
    const rows = await this.mails.query<{ state: MailState; mails: number }[]>(
      'SELECT state, COUNT(*) AS mails FROM mails GROUP BY state',
    );
    return Object.fromEntries(rows.map(({ state, mails }) => [state, mails]));
  }

  find(id: string): Promise<Mail | null> {
    return this.mails.findOneBy({ id });
  }

  async findLatest(
    { states, recipient }: { states: readonly MailState[]; recipient?: string | undefined },
    limit: number,
    before = LATEST,
  ): Promise<Mail[]> {
    // COALESCE keeps the engines from the index of states, which would read many emails to other recipients.
    const [condition, values] =
      recipient === undefined
        ? ['state = ?', []]
        : [`recipient = ? AND COALESCE(state, '') = ?`, [recipient]];
    const sql = `SELECT id FROM mails WHERE ${condition} AND id < ? ORDER BY id DESC LIMIT ?`;
    const found = await Promise.all(
      states.map((state) => this.findIds(sql, [...values, state, before, limit])),
    );
    const latestFirst = found.flat().toSorted((a, b) => (a < b ? 1 : -1));
    return this.mails.find({ where: { id: In(latestFirst.slice(0, limit)) }, order: { id: 'DESC' } });
  }

  async retry(tx: Transaction, id: string, now: number): Promise<boolean> {
    const sql = `${RETRY} id = ? AND state IN ('waiting', 'failed')`;
    return (await tx.write(sql, [now, now, id])) === 1;
  }

  retryFailed(tx: Transaction, now: number): Promise<number> {
    return tx.write(`${RETRY} state = 'failed'`, [now, now]);
  }

  /** Returns how many emails of each kind waited. */
  async dropWaiting(): Promise<Partial<Record<MailKind, number>>> {
    const sql = "SELECT kind, COUNT(*) AS mails FROM mails WHERE state = 'waiting' GROUP BY kind";
    const rows = await this.mails.query<{ kind: MailKind; mails: number }[]>(sql);
    await this.mails.update({ state: 'waiting' }, { state: 'dropped', endedAt: Date.now() });
    return Object.fromEntries(rows.map(({ kind, mails }) => [kind, mails]));
  }

  findBefore(time: number, limit: number): Promise<string[]> {
    const sql = 'SELECT id FROM mails WHERE id < ? ORDER BY id LIMIT ?';
    return this.findIds(sql, [firstEntityIdAt(time), limit]);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.mails.delete({ id: In(ids) });
  }

  private async findIds(sql: string, values: unknown[]): Promise<string[]> {
    return idsOf(await this.mails.query(sql, values));
  }
}
