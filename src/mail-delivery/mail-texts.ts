import { Injectable } from '@nestjs/common';
import { EmailCodes } from '../auth/email-codes/email-codes.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { Transactions } from '../database/transactions/transactions.js';
import { isNotice, type Mail } from '../mail/mail.entity.js';
import { MailsRepository, type WaitingMail } from '../mail/mails.repository.js';
import {
  harmless,
  harmlessUpTo,
  type KeyDetails,
  type LinkDetails,
  lookUp,
  type MailText,
  type SignInDetails,
} from '../mail/template.js';
import { InvitationListsRepository, type MailedInvitation } from '../orgs/state/invitations.lists.js';
import { KnownAddresses } from '../rate-limits/login-limits.js';
import { UsersRepository } from '../users/users.repository.js';

const MAX_WAITING = 10;
const MAX_WAITING_OF_SENDER = 5;

const MAX_SHOWN_NAME = 100;

const UNVERIFIED = new Map([
  ['', 'an address that is not verified'],
  ['de', 'eine nicht bestätigte Adresse'],
]);

/** as in "Chrome on macOS" */
const ON = new Map([
  ['', 'on'],
  ['de', 'unter'],
]);

type MailedCode = Pick<Mail, 'codeId' | 'codeNumber'>;

/** Composes an email for each attempt to send it. The code stays the same. */
@Injectable()
export class MailTexts {
  constructor(
    private readonly users: UsersRepository,
    private readonly codes: EmailCodes,
    private readonly codeRows: EmailCodesRepository,
    private readonly invitations: InvitationListsRepository,
    private readonly known: KnownAddresses,
    private readonly mails: MailsRepository,
    private readonly transactions: Transactions,
  ) {}

  /** Returns undefined if the email is obsolete, or concurrent emails reached a limit first. */
  async compose(mail: Mail): Promise<MailText | undefined> {
    const locale = await this.users.findLocaleFor(mail.recipient, mail.senderId);
    const text = await this.textOf(mail, locale);
    return text && { ...text, locale };
  }

  private async textOf(mail: Mail, locale: string | null): Promise<MailText | undefined> {
    const { kind } = mail;
    if (kind === 'key_created' || kind === 'key_reported') return keyText(kind, mail);
    if (kind === 'identity_linked') return linkText(mail);
    if (isNotice(kind)) return { template: kind };
    if (kind === 'password_reset') return this.resetText(mail);
    if (await this.mails.isBeyondLimits(mail)) return undefined;
    if (kind === 'new_sign_in') return signInText(mail, locale);
    if (kind === 'invitation') return this.invitationText(mail, locale);
    const isTaken = kind === 'email_change' && (await this.users.findByEmail(mail.recipient)) !== null;
    return isTaken ? { template: 'email_taken' } : this.codeText(kind, mail);
  }

  async findPointless(mails: readonly WaitingMail[]): Promise<string[]> {
    const resets = mails.filter(({ kind, codeId }) => kind === 'password_reset' && codeId === null);
    if (resets.length === 0) return [];
    const active = new Set(await this.users.findActiveEmails(resets.map(({ recipient }) => recipient)));
    const pointless: WaitingMail[] = [];
    for (const [email, requests] of Map.groupBy(resets, ({ recipient }) => recipient)) {
      pointless.push(...(active.has(email) ? await this.findSurplus(email, requests) : requests));
    }
    return pointless.map(({ id }) => id);
  }

  /** Strangers cannot crowd out an IP address from which the user has logged in. */
  private async findSurplus(email: string, requests: readonly WaitingMail[]): Promise<WaitingMail[]> {
    if (requests.length <= MAX_WAITING_OF_SENDER) return [];
    const known = await this.known.keysOf(email);
    const bySender = new Map<string | null, number>();
    let strangers = 0;
    return requests.filter(({ senderId }) => {
      const count = (bySender.get(senderId) ?? 0) + 1;
      bySender.set(senderId, count);
      if (count > MAX_WAITING_OF_SENDER) return true;
      if (senderId !== null && known.has(senderId)) return false;
      strangers += 1;
      return strangers > MAX_WAITING;
    });
  }

  /** Finds the user only now, so that neither the time nor the answer of a request reveals whether an account exists. */
  private async resetText(mail: Mail): Promise<MailText | undefined> {
    const user = await this.users.findByEmail(mail.recipient);
    if (!user || user.disabledAt !== null) return undefined;
    const code = mail.codeId === null ? await this.issueResetCode(mail) : mail;
    return code && this.codeText('password_reset', code);
  }

  private async issueResetCode(mail: Mail): Promise<MailedCode | undefined> {
    const { id, recipient, senderId, expiresAt } = mail;
    const isKnown = senderId !== null && (await this.known.keysOf(recipient)).has(senderId);
    const key = { purpose: 'password_reset', subject: recipient } as const;
    return this.transactions.run({ principal: 'mail' }, async (tx) => {
      // The lock makes transactions count the emails to one recipient one after the other.
      await this.codeRows.keep(tx, key);
      if (await this.mails.findExcess(tx, mail, isKnown)) return undefined;
      const code = await this.codeRows.issue(tx, {
        ...key,
        email: recipient,
        ...(expiresAt !== null && { expiresAt }),
      });
      await this.mails.setCode(tx, id, code.id, code.codeNumber);
      return { codeId: code.id, codeNumber: code.codeNumber };
    });
  }

  private async codeText(
    purpose: 'password_reset' | 'password_setup' | 'email_verification' | 'email_change',
    { codeId, codeNumber }: MailedCode,
  ): Promise<MailText | undefined> {
    if (codeId === null || codeNumber === null) return undefined;
    const code = { id: codeId, purpose, codeNumber };
    if (!(await this.codeRows.isCurrent(codeId, codeNumber))) return undefined;
    return { template: purpose, code: this.codes.textOf(code) };
  }

  private async invitationText(
    { codeId, codeNumber }: MailedCode,
    locale: string | null,
  ): Promise<MailText | undefined> {
    if (codeId === null || codeNumber === null) return undefined;
    const invitation = await this.invitations.findMailed(codeId, codeNumber, Date.now());
    if (!invitation) return undefined;
    return {
      template: 'invitation',
      code: this.codes.textOf({ id: codeId, purpose: 'invitation', codeNumber }),
      organization: `"${harmless(invitation.orgName)}"`,
      inviter: inviterText(invitation, locale),
    };
  }
}

function inviterText(
  { inviterName, inviterEmail, inviterVerifiedAt }: MailedInvitation,
  locale: string | null,
): string {
  const [name, address] = [harmless(inviterName ?? ''), harmless(inviterEmail)];
  const unverified = inviterVerifiedAt === null ? lookUp(locale, (tag) => UNVERIFIED.get(tag)) : undefined;
  if (name === '') return unverified === undefined ? address : `${address} (${unverified})`;
  return `"${name}" (${address}${unverified === undefined ? '' : `, ${unverified}`})`;
}

function signInText({ details }: Mail, locale: string | null): MailText | undefined {
  if (details === null) return undefined;
  const { system, user_agent: program, ...others } = JSON.parse(details) as SignInDetails;
  const shown =
    system === undefined ? program : `${program} ${lookUp(locale, (tag) => ON.get(tag))} ${system}`;
  return { template: 'new_sign_in', ...others, user_agent: shown };
}

function keyText(template: 'key_created' | 'key_reported', { details }: Mail): MailText | undefined {
  if (details === null) return undefined;
  const { name, service } = JSON.parse(details) as KeyDetails;
  return { template, key_name: harmlessUpTo(MAX_SHOWN_NAME, name), service };
}

function linkText({ details }: Mail): MailText | undefined {
  if (details === null) return undefined;
  const { provider } = JSON.parse(details) as LinkDetails;
  return { template: 'identity_linked', provider: harmlessUpTo(MAX_SHOWN_NAME, provider) };
}
