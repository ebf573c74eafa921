import type { OperatorActor } from '../access/principal.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { type Mail, MAIL_STATES } from '../mail/mail.entity.js';
import { MailNotFoundError } from '../mail/mail.errors.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { Mails } from '../mail/mails.js';
import { OperatedMails } from '../operators/operated-mails.js';
import { mailView, timeText } from '../operators/views.js';
import { canonicalEmail } from '../users/email-address.js';
import type { Invocation, Report } from './command/definition.js';
import { CannotRunError, choiceOption, limitOption, operatorOf, textOption } from './command/options.js';
import { withServices } from './command/services.js';

export async function listMails(invocation: Invocation): Promise<Report> {
  const state = choiceOption(invocation, 'state', MAIL_STATES);
  const states = state === undefined ? (['waiting', 'failed', 'dropped'] as const) : [state];
  const to = textOption(invocation, 'to');
  const recipient = to === undefined ? undefined : canonicalEmail(to);
  if (to !== undefined && recipient === undefined) throw new CannotRunError('--to: expected an email');
  const atMost = limitOption(invocation);
  return withServices(async (services) => {
    const mails = await services.get(MailsRepository).findLatest({ states, recipient }, atMost);
    return { lines: mails.length === 0 ? ['none'] : mails.map(mailLine), json: mails.map(mailView) };
  });
}

function mailLine({
  id,
  kind,
  recipient,
  state,
  createdAt,
  attempts,
  nextAttemptAt,
  lastError,
}: Mail): string {
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
  const { parameters, options } = invocation;
  const [id] = parameters;
  if ((id === undefined) !== (options['failed'] === true)) {
    throw new CannotRunError('expected the id of an email, or --failed');
  }
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const retried =
      id === undefined
        ? await services.get(Mails).retryFailed(actor)
        : await retryOne(services.get(OperatedMails), id, actor);
    return { lines: [`${retried} mails will be sent now`], json: [{ retried }] };
  });
}

async function retryOne(mails: OperatedMails, id: string, actor: OperatorActor): Promise<1> {
  try {
    await mails.retry(isEntityId(id) ? id : '', actor);
    return 1;
  } catch (error) {
    throw error instanceof MailNotFoundError ? new CannotRunError(error.message) : error;
  }
}
