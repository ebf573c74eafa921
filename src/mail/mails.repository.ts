import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, Not, type Repository } from 'typeorm';
import { hotStatement } from '../database/hot-statements.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { firstEntityIdAt, timeOfEntityId } from '../identifiers/entity-id.js';
import type { WaitingMail } from './mail-composer.js';
import { Mail, type MailState } from './mail.entity.js';

/** Mails with an invitation, to one address, of one user, and into one organization. */
const MAX_INVITATIONS_A_DAY = { recipient: 5, sender: 100, org: 100 };

/** Whose invitation a mail is. */
export type InvitationMail = Pick<Mail, 'recipient' | 'orgId' | 'senderId'>;

/** How a mail came to its end. */
export type MailEnd = { state: 'sent' } | { state: 'failed'; error: string };

const FIND_DUE = hotStatement(
  'the search for mails to send',
  `SELECT id, kind, recipient, code_id AS codeId FROM mails
    WHERE state = 'waiting' AND next_attempt_at <= ? ORDER BY next_attempt_at LIMIT ?`,
  [0, 1],
);
const FIND_WAITING = hotStatement(
  'the search for mails that wait for long',
  `SELECT id FROM mails WHERE state = 'waiting' AND id < ? ORDER BY id LIMIT 1`,
  [''],
);
const FIND_ENDED = hotStatement(
  'the clean-up of mails',
  'SELECT id FROM mails WHERE state = ? AND id < ? ORDER BY id LIMIT ?',
  ['sent', '', 1],
);
const COUNT_CODES = hotStatement(
  'the count of codes mailed to one address',
  `SELECT COUNT(*) AS mails FROM mails
    WHERE recipient = ? AND id > ? AND id < ? AND code_id IS NOT NULL AND kind <> 'invitation'`,
  ['', '', ''],
);

/** The one that has to be older than a day before another may be sent. */
const nthInvitation = (of: string, limit: number): string => `(SELECT id FROM mails
  WHERE ${of} = ? AND id > ? AND id < ? AND kind = 'invitation' ORDER BY id DESC LIMIT 1 OFFSET ${limit - 1})`;
const FIND_LIMITING = hotStatement(
  'the limits of invitations',
  `SELECT ${nthInvitation('recipient', MAX_INVITATIONS_A_DAY.recipient)} AS forRecipient,
    ${nthInvitation('sender_id', MAX_INVITATIONS_A_DAY.sender)} AS fromSender,
    ${nthInvitation('org_id', MAX_INVITATIONS_A_DAY.org)} AS fromOrg`,
  ['', '', '', '', '', '', '', '', ''],
);

const RETRY = `UPDATE mails SET state = 'waiting', next_attempt_at = ?, attempts = 0, ended_at = NULL
  WHERE (expires_at IS NULL OR expires_at > ?) AND`;

/** Greater than every id. */
const AFTER_ALL = 'g';

/** The outbox. A mail belongs to the process that holds its lease, which one UPDATE decides, on Galera too. */
@Injectable()
export class MailsRepository {
  constructor(
    @InjectRepository(Mail) private readonly mails: Repository<Mail>,
    private readonly transactions: Transactions,
  ) {}

  async insert(transaction: Transaction, mail: Mail): Promise<void> {
    await transaction.of(this.mails).insert(mail);
  }

  /** Except invitations: registering and deleting an address must not reset the limits of organizations. */
  async deleteTo(transaction: Transaction, recipient: string): Promise<void> {
    await transaction.of(this.mails).delete({ recipient, kind: Not('invitation') });
  }

  findDue(now: number, limit: number): Promise<WaitingMail[]> {
    return this.mails.query<WaitingMail[]>(FIND_DUE, [now, limit]);
  }

  /** undefined: another process was first. */
  async claim(id: string, now: number, leaseUntil: number): Promise<Mail | undefined> {
    const claimed = await this.transactions.write(
      `UPDATE mails SET next_attempt_at = ?, attempts = attempts + 1
        WHERE id = ? AND state = 'waiting' AND next_attempt_at <= ?`,
      [leaseUntil, id, now],
    );
    return claimed === 1 ? ((await this.mails.findOneBy({ id })) ?? undefined) : undefined;
  }

  /** Does nothing where the lease was lost: then another process decides. */
  async postpone(
    { id, nextAttemptAt: lease }: Mail,
    nextAttemptAt: number,
    lastError: string,
  ): Promise<void> {
    await this.mails.update({ id, state: 'waiting', nextAttemptAt: lease }, { nextAttemptAt, lastError });
  }

  /** Even if another instance holds the lease now: a mail that was sent was sent. */
  async end({ id }: Mail, end: MailEnd): Promise<void> {
    const lastError = end.state === 'failed' ? end.error : null;
    await this.mails.update({ id, state: 'waiting' }, { state: end.state, endedAt: Date.now(), lastError });
  }

  /** Ties a code to a mail that has none, so that every attempt sends the same. */
  async setCode(transaction: Transaction, id: string, codeId: string, codeNumber: number): Promise<void> {
    await transaction.of(this.mails).update({ id, codeId: IsNull() }, { codeId, codeNumber });
  }

  /** Mails with codes to one address since a time. */
  async countCodes(transaction: Transaction, recipient: string, since: number): Promise<number> {
    const values = [recipient, firstEntityIdAt(since), AFTER_ALL];
    const [row] = await transaction.read<{ mails: number }>(COUNT_CODES, values);
    return row!.mails;
  }

  /** Those before this one. */
  async countCodesBefore({ id, recipient }: Mail, since: number): Promise<number> {
    const values = [recipient, firstEntityIdAt(since), id];
    const [row] = await this.mails.query<{ mails: number }[]>(COUNT_CODES, values);
    return row!.mails;
  }

  /** When the mail was written that one more has to wait for, a day long; undefined: nobody's limit is reached. */
  async findLimitingInvitation(
    transaction: Transaction,
    mail: InvitationMail,
    since: number,
  ): Promise<number | undefined> {
    return latestOf(
      await transaction.read<LimitingInvitations>(FIND_LIMITING, limitValues(mail, since, AFTER_ALL)),
    );
  }

  /** Whether those before this one had reached a limit. */
  async isBeyondLimits(mail: Mail, since: number): Promise<boolean> {
    const values = limitValues(mail, since, mail.id);
    return latestOf(await this.mails.query<LimitingInvitations[]>(FIND_LIMITING, values)) !== undefined;
  }

  async hasWaitedSince(time: number): Promise<boolean> {
    return (await this.mails.query<unknown[]>(FIND_WAITING, [firstEntityIdAt(time)])).length > 0;
  }

  async countByState(): Promise<Partial<Record<MailState, number>>> {
    const rows = await this.mails.query<{ state: MailState; mails: number }[]>(
      'SELECT state, COUNT(*) AS mails FROM mails GROUP BY state',
    );
    return Object.fromEntries(rows.map(({ state, mails }) => [state, mails]));
  }

  /** The latest first. */
  findLatest(
    { states, recipient }: { states: readonly MailState[]; recipient: string | undefined },
    limit: number,
  ): Promise<Mail[]> {
    const where = { state: In(states), ...(recipient !== undefined && { recipient }) };
    return this.mails.find({ where, order: { id: 'DESC' }, take: limit });
  }

  find(id: string): Promise<Mail | null> {
    return this.mails.findOneBy({ id });
  }

  /** To be sent at once, if it waits or failed, and has not expired; how many of them were. */
  retry(id: string, now: number): Promise<number> {
    return this.transactions.write(`${RETRY} id = ? AND state <> 'sent'`, [now, now, id]);
  }

  retryFailed(now: number): Promise<number> {
    return this.transactions.write(`${RETRY} state = 'failed'`, [now, now]);
  }

  async findEndedBefore(state: MailState, time: number, limit: number): Promise<string[]> {
    const rows = await this.mails.query<{ id: string }[]>(FIND_ENDED, [state, firstEntityIdAt(time), limit]);
    return rows.map(({ id }) => id);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.mails.delete({ id: In(ids) });
  }
}

type LimitingInvitations = Record<'forRecipient' | 'fromSender' | 'fromOrg', string | null>;

function limitValues(
  { recipient, orgId, senderId }: InvitationMail,
  since: number,
  before: string,
): unknown[] {
  return [recipient, senderId, orgId].flatMap((value) => [value, firstEntityIdAt(since), before]);
}

function latestOf([row]: LimitingInvitations[]): number | undefined {
  const times = Object.values(row!).flatMap((id) => (id === null ? [] : timeOfEntityId(id)));
  return times.length === 0 ? undefined : Math.max(...times);
}
