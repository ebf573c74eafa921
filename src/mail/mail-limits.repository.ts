import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { hotStatement } from '../database/hot-statements.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { firstEntityIdAt, timeOfEntityId } from '../identifiers/entity-id.js';
import type { BudgetedKind, Counted, Counts } from './mail-budgets.js';
import { Mail } from './mail.entity.js';

export type InvitationMail = Pick<Mail, 'recipient' | 'orgId' | 'senderId'>;

export interface BudgetedMail {
  kind: BudgetedKind;
  recipient: string;
  senderId: string | null;
}

/** invitation emails in a day */
const MAX_INVITATIONS = { recipientFromOrg: 5, recipientFromSender: 5, recipient: 25, sender: 100, org: 100 };

/** A request for a new password counts once it has a code: most are for nobody, and leave no row. */
const COUNT = hotStatement(
  'the count of mails to one address',
  `SELECT COUNT(*) AS mails, MAX(id) AS latest,
     COUNT(CASE WHEN sender_id = ? THEN 1 END) AS bySender, MAX(CASE WHEN sender_id = ? THEN id END) AS latestBySender
   FROM mails WHERE recipient = ? AND id > ? AND id < ? AND kind = ?
     AND (code_id IS NOT NULL OR kind <> 'password_reset')`,
  ['', '', '', '', '', ''],
);
const COUNT_CHANGES = hotStatement(
  'the count of codes that one user had mailed',
  `SELECT COUNT(*) AS mails, MAX(id) AS latest FROM mails
    WHERE sender_id = ? AND id > ? AND id < ? AND kind = 'email_change'`,
  ['', '', ''],
);

/** Selects the mail that has to be older than a day before another may be sent. */
const nthInvitation = (of: string, limit: number): string => `(SELECT id FROM mails
  WHERE ${of} AND id > ? AND id < ? AND kind = 'invitation' ORDER BY id DESC LIMIT 1 OFFSET ${limit - 1})`;
const FIND_LIMITING = hotStatement(
  'the limits of invitations',
  `SELECT ${nthInvitation('recipient = ? AND org_id = ?', MAX_INVITATIONS.recipientFromOrg)} AS forRecipientFromOrg,
    ${nthInvitation('recipient = ? AND sender_id = ?', MAX_INVITATIONS.recipientFromSender)} AS forRecipientFromSender,
    ${nthInvitation('recipient = ?', MAX_INVITATIONS.recipient)} AS forRecipient,
    ${nthInvitation('sender_id = ?', MAX_INVITATIONS.sender)} AS fromSender,
    ${nthInvitation('org_id = ?', MAX_INVITATIONS.org)} AS fromOrg`,
  Array<string>(17).fill(''),
);

/** greater than every id */
const AFTER_ALL = 'g';

// Counts emails by their rows, which outlive a day whatever becomes of the mail. So all instances see the same counts,
// which do not reveal whether an address has an account.
@Injectable()
export class MailLimitsRepository {
  constructor(@InjectRepository(Mail) private readonly mails: Repository<Mail>) {}

  async count(transaction: Transaction, mail: BudgetedMail, since: number): Promise<Counts> {
    return countsOf(await transaction.read<CountRow>(COUNT, countValues(mail, since, AFTER_ALL)));
  }

  async countBefore(mail: BudgetedMail & { id: string }, since: number): Promise<Counts> {
    return countsOf(await this.mails.query<CountRow[]>(COUNT, countValues(mail, since, mail.id)));
  }

  async countChanges(transaction: Transaction, senderId: string, since: number): Promise<Counted> {
    const values = [senderId, firstEntityIdAt(since), AFTER_ALL];
    const [row] = await transaction.read<Pick<CountRow, 'mails' | 'latest'>>(COUNT_CHANGES, values);
    return { mails: row!.mails, latest: timeOf(row!.latest) };
  }

  /** Finds when the mail was written that has to be a day old before one more; undefined if no limit is reached. */
  async findLimitingInvitation(
    transaction: Transaction,
    mail: InvitationMail,
    since: number,
  ): Promise<number | undefined> {
    return latestOf(
      await transaction.read<LimitingInvitations>(FIND_LIMITING, limitValues(mail, since, AFTER_ALL)),
    );
  }

  /** Tells whether the emails before this one had reached a limit. */
  async isBeyondLimits(mail: Mail, since: number): Promise<boolean> {
    const values = limitValues(mail, since, mail.id);
    return latestOf(await this.mails.query<LimitingInvitations[]>(FIND_LIMITING, values)) !== undefined;
  }
}

interface CountRow {
  mails: number;
  latest: string | null;
  bySender: number;
  latestBySender: string | null;
}

type LimitingInvitations = Record<string, string | null>;

function countValues({ kind, recipient, senderId }: BudgetedMail, since: number, before: string): unknown[] {
  return [senderId, senderId, recipient, firstEntityIdAt(since), before, kind];
}

function countsOf([row]: CountRow[]): Counts {
  const { mails, latest, bySender, latestBySender } = row!;
  return {
    byAll: { mails, latest: timeOf(latest) },
    bySender: { mails: bySender, latest: timeOf(latestBySender) },
  };
}

function timeOf(id: string | null): number | undefined {
  return id === null ? undefined : timeOfEntityId(id);
}

function limitValues(
  { recipient, orgId, senderId }: InvitationMail,
  since: number,
  before: string,
): unknown[] {
  const times = [firstEntityIdAt(since), before];
  const keys = [[recipient, orgId], [recipient, senderId], [recipient], [senderId], [orgId]];
  return keys.flatMap((key) => key.concat(times));
}

function latestOf([row]: LimitingInvitations[]): number | undefined {
  const times = Object.values(row!).flatMap((id) => (id === null ? [] : timeOfEntityId(id)));
  return times.length === 0 ? undefined : Math.max(...times);
}
