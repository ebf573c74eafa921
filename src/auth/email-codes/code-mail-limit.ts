import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transaction.js';
import { waitForChangesMs, waitMs } from '../../mail/mail-budgets.js';
import { type BudgetedMail, MailLimitsRepository } from '../../mail/mail-limits.repository.js';
import type { Mail } from '../../mail/mail.entity.js';
import { RateLimitedError } from '../../rate-limits/admissions.js';

const DAY_MS = 86_400_000;

type CodeMail<Kind extends BudgetedMail['kind']> = BudgetedMail & { kind: Kind; senderId: string };
type OwnCodeMail = CodeMail<'email_verification'> | CodeMail<'email_change'>;

/** Bounds the codes of a mailbox and of one user, with a budget per purpose: no stranger uses up the owner's. */
@Injectable()
export class CodeMailLimit {
  constructor(private readonly limits: MailLimitsRepository) {}

  /** @param isKnown whether the account has logged in from the sender's address */
  async isReached(transaction: Transaction, mail: BudgetedMail, isKnown: boolean): Promise<boolean> {
    const now = Date.now();
    return waitMs(mail.kind, await this.limits.count(transaction, mail, now - DAY_MS), now, isKnown) > 0;
  }

  /** Whether requests at the same moment have put this mail beyond the limit. */
  async isBeyond({ id, createdAt }: Mail, mail: BudgetedMail): Promise<boolean> {
    const counts = await this.limits.countBefore({ id, ...mail }, createdAt - DAY_MS);
    return waitMs(mail.kind, counts, createdAt) > 0;
  }

  async require(transaction: Transaction, mail: OwnCodeMail): Promise<void> {
    const now = Date.now();
    const since = now - DAY_MS;
    const wait = waitMs(mail.kind, await this.limits.count(transaction, mail, since), now);
    refuse(wait, 'Too many mails to this e-mail today; try again later.');
    if (mail.kind !== 'email_change') return;
    const changes = await this.limits.countChanges(transaction, mail.senderId, since);
    refuse(waitForChangesMs(changes, now), 'Too many changes of your e-mail today; try again later.');
  }
}

function refuse(wait: number, detail: string): void {
  if (wait > 0) throw new RateLimitedError(detail, Math.ceil(wait / 1000));
}
