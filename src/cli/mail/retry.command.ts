import type { OperatorActor } from '../../access/actor.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { MailNotFoundError } from '../../mail/mail.errors.js';
import { MailRetries } from '../../mail/mail-retries.js';
import { OperatedMails } from '../../operators/operated-mails.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';

export function retryMails(invocation: Invocation): Promise<Report> {
  const { parameters, options } = invocation;
  const [id] = parameters;
  if ((id === undefined) !== (options['failed'] === true)) {
    throw new CannotRunError('expected the id of a mail, or --failed');
  }
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const retried =
      id === undefined
        ? await services.get(MailRetries).retryFailed(actor)
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
