import { Injectable } from '@nestjs/common';
import type { MailState } from '../../mail/mail.entity.js';
import { MailListRepository } from '../../mail/mail-list.repository.js';
import { mailView } from '../../mail/mail-view.js';
import { cutPage, encodeCursor, limitOf, type LinkNextPage, positionOf } from '../../http/pages.js';
import type { ListMailsQuery } from './dto/list-mails.query.js';
import type { MailsResult } from './dto/mail-lookup.responses.js';

/** States that ask for an operator's attention. */
const DEFAULT_STATES: readonly MailState[] = ['waiting', 'failed', 'dropped'];

@Injectable()
export class MailLookups {
  constructor(private readonly mails: MailListRepository) {}

  async list(query: ListMailsQuery, linkNextPage: LinkNextPage): Promise<MailsResult> {
    const { state, to: recipient } = query;
    const states = state === undefined ? DEFAULT_STATES : [state];
    const limit = limitOf(query);
    const rows = await this.mails.findLatest({ states, recipient }, limit + 1, positionOf(query)?.id);
    const { page, next } = cutPage(rows, limit, ({ id }) => encodeCursor({ order: 0, id }), linkNextPage);
    return { mails: page.map(mailView), ...next };
  }
}
