import { isEntityId } from '../identifiers/entity-id.js';
import { timeText } from '../identifiers/text.js';
import { type Mail, MAIL_STATES } from '../mail/mail.entity.js';
import { Mails } from '../mail/mails.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { OperatedMails } from '../operators/operated-mails.js';
import { mailView } from '../operators/views.js';
import { normalizedEmail } from '../users/email-address.js';
import { withContext } from './command/context.js';
import { CannotRunError, type Invocation, type Report } from './command/definition.js';

export async function listMails(invocation: Invocation): Promise<Report> {
  const state = invocation.choice('state', MAIL_STATES);
  const states = state === undefined ? MAIL_STATES.filter((one) => one !== 'sent') : [state];
  const recipient = invocation.read('to', normalizedEmail, 'an email');
  const atMost = invocation.limit();
  return withContext(async (context) => {
    const mails = await context.get(MailsRepository).findLatest({ states, recipient }, atMost);
    return { lines: mails.length === 0 ? ['none'] : mails.map(mailLine), json: mails.map(mailView) };
  });
}

function mailLine(mail: Mail): string {
  const { id, kind, recipient, state, createdAt, attempts, nextAttemptAt, lastError } = mail;
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

export async function retryMails(invocation: Invocation): Promise<Report> {
  const [id] = invocation.parameters;
  if ((id === undefined) !== invocation.flag('failed')) {
    throw new CannotRunError('expected the id of an email, or --failed');
  }
  return withContext(async (context) => {
    const actor = invocation.operator();
    if (id === undefined) return retriedReport(await context.get(Mails).retryFailed(actor));
    await context.get(OperatedMails).retry(isEntityId(id) ? id : '', actor);
    return retriedReport(1);
  });
}

function retriedReport(retried: number): Report {
  return { lines: [`${retried} emails will be sent now`], json: [{ retried }] };
}
