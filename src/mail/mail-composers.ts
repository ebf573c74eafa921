import { Injectable } from '@nestjs/common';
import { isNotice, type NoticeKind } from './mail-budgets.js';
import type { MailComposer, MailText, WaitingMail } from './mail-composer.js';
import { type Mail, MAIL_KINDS, type MailKind } from './mail.entity.js';

type ComposedKind = Exclude<MailKind, NoticeKind>;

/** Rooms register the kinds of mails that they compose; notices say the same to everybody. */
@Injectable()
export class MailComposers {
  private readonly byKind = new Map<MailKind, MailComposer>();

  register(kind: ComposedKind, composer: MailComposer): void {
    if (this.byKind.has(kind)) throw new Error(`two rooms compose mails of the kind ${kind}`);
    this.byKind.set(kind, composer);
  }

  /** @throws if a room is missing: its mails would stay in the outbox */
  requireAll(): void {
    const missing = MAIL_KINDS.filter((kind) => !isNotice(kind) && !this.byKind.has(kind));
    if (missing.length > 0) throw new Error(`no room composes mails of the kind ${missing.join(', ')}`);
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
