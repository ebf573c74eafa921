import { Injectable } from '@nestjs/common';
import { type Mail, MAIL_KINDS, type MailKind } from './mail.entity.js';
import type { TemplateName } from './template.js';
import { isNotice, type NoticeKind } from './mail-budgets.js';

export interface MailText {
  template: TemplateName;
  code?: string;
  /** set for invitations only, and made harmless already, as is `inviter` */
  organization?: string;
  inviter?: string;
}

export type WaitingMail = Pick<
  Mail,
  'id' | 'kind' | 'recipient' | 'codeId' | 'senderId' | 'priority' | 'attempts'
>;

/** Decides what emails of one kind say, at the time of sending. Each attempt asks again; the code stays the same. */
export interface MailComposer {
  /** Returns undefined if there is nobody, or no longer anything, to tell. */
  compose(mail: Mail): Promise<MailText | undefined>;

  /** Finds emails that nobody would get, with one query for all of them. `compose` finds those that it misses. */
  findPointless?(mails: readonly WaitingMail[]): Promise<string[]>;
}

type ComposedKind = Exclude<MailKind, NoticeKind>;

/** Rooms register the kinds of emails that they compose; notices say the same to every user. */
@Injectable()
export class MailComposers {
  private readonly byKind = new Map<MailKind, MailComposer>();

  register(kind: ComposedKind, composer: MailComposer): void {
    if (this.byKind.has(kind)) throw new Error(`two rooms compose emails of the kind ${kind}`);
    this.byKind.set(kind, composer);
  }

  /** @throws if a room is missing: its emails would stay in the outbox */
  requireAll(): void {
    const missing = MAIL_KINDS.filter((kind) => !isNotice(kind) && !this.byKind.has(kind));
    if (missing.length > 0) throw new Error(`no room composes emails of the kind ${missing.join(', ')}`);
  }

  async compose(mail: Mail): Promise<MailText | undefined> {
    const { kind } = mail;
    return isNotice(kind) ? { template: kind } : this.byKind.get(kind)!.compose(mail);
  }

  async findPointless(mails: readonly WaitingMail[]): Promise<string[]> {
    const found: string[] = [];
    for (const [kind, some] of Map.groupBy(mails, (mail) => mail.kind)) {
      found.push(...((await this.byKind.get(kind)?.findPointless?.(some)) ?? []));
    }
    return found;
  }
}
