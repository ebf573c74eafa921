import { MAIL_STATES, type Mail, type MailState } from '../../mail/mail.entity.js';
import { MailListRepository } from '../../mail/mail-list.repository.js';
import { mailView } from '../../operators/views.js';
import { canonicalEmail } from '../../users/email-address.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { parseLimit } from '../limit.js';
import { withServices } from '../services.js';
import { timeText } from '../times.js';

export function listMails({ options }: Invocation): Promise<Report> {
  const { state, to, limit } = options as Record<string, string | undefined>;
  const states = state === undefined ? (['waiting', 'failed', 'dropped'] as const) : [stateOf(state)];
  const recipient = to === undefined ? undefined : addressOf(to);
  const atMost = parseLimit(limit);
  return withServices(async (services) => {
    const mails = await services.get(MailListRepository).findLatest({ states, recipient }, atMost);
    return { lines: mails.length === 0 ? ['none'] : mails.map(textOf), json: mails.map(mailView) };
  });
}

function stateOf(text: string): MailState {
  const state = MAIL_STATES.find((known) => known === text);
  if (state === undefined) throw new CannotRunError(`--state: expected one of ${MAIL_STATES.join(', ')}`);
  return state;
}

function addressOf(text: string): string {
  const email = canonicalEmail(text);
  if (email === undefined) throw new CannotRunError('--to: expected an e-mail');
  return email;
}

function textOf({ id, kind, recipient, state, createdAt, attempts, nextAttemptAt, lastError }: Mail): string {
  return [
    timeText(createdAt),
    state.padEnd(7),
    id,
    kind,
    recipient,
    `attempts ${attempts}`,
    state === 'waiting' && `next ${timeText(nextAttemptAt || createdAt)}`,
    lastError,
  ]
    .filter((part) => part !== null && part !== false)
    .join('  ');
}
