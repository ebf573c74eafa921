import { isEntityId } from '../identifiers/entity-id.js';
import type { Mail, MAIL_STATES } from '../mail/mail.entity.js';
import { mailView } from '../operators/views.js';
import { timeText } from '../identifiers/text.js';
import { canonicalEmail } from '../users/email-address.js';
import { CannotRunError, type CommandGroup, type Invocation, type Report } from './command/definition.js';
import { withServices } from './command/services.js';

export const MAIL: CommandGroup = {
  name: 'mail',
  summary: 'the outbox: emails that wait and emails that failed',
  commands: [
    {
      usage: 'list',
      summary: 'list emails that wait, failed or were dropped, newest first, without text and code',
      details: 'Accounts keeps emails for 7 days.',
      options: [
        ['--state <STATE>', 'waiting, failed, sent, or dropped (the code in it was no longer valid)'],
        ['--to <EMAIL>', 'only emails to this address'],
        ['--limit <NUMBER>', 'at most this many (default: 100)'],
      ],
      examples: ['mail list', 'mail list --to ada@example.com --state sent --json'],
      run: listMails,
    },
    {
      usage: 'retry [MAIL]',
      summary: 'send a waiting or failed email now, by its id',
      details:
        'The command refuses an email if its code has expired or is invalid, or if its invitation has ended.',
      options: [['--failed', 'send all failed emails instead of one']],
      changes: true,
      examples: ['mail retry --failed --reason "the mail server is back"'],
      run: retryMails,
    },
  ],
};

const STATES: typeof MAIL_STATES = ['waiting', 'sent', 'failed', 'dropped'];

async function listMails(invocation: Invocation): Promise<Report> {
  const state = invocation.choice('state', STATES);
  const states = state === undefined ? STATES.filter((one) => one !== 'sent') : [state];
  const recipient = invocation.read('to', canonicalEmail, 'an email');
  const atMost = invocation.limit();
  return withServices(async (services) => {
    const mails = await services.mailRows.findLatest({ states, recipient }, atMost);
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

async function retryMails(invocation: Invocation): Promise<Report> {
  const [id] = invocation.parameters;
  if ((id === undefined) !== invocation.flag('failed')) {
    throw new CannotRunError('expected the id of an email, or --failed');
  }
  return withServices(async ({ mails, operatedMails }) => {
    const actor = invocation.operator();
    if (id === undefined) return retriedReport(await mails.retryFailed(actor));
    await operatedMails.retry(isEntityId(id) ? id : '', actor);
    return retriedReport(1);
  });
}

function retriedReport(retried: number): Report {
  return { lines: [`${retried} emails will be sent now`], json: [{ retried }] };
}
