import type { OperatorActor } from '../../access/actor.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { MailNotFoundError } from '../../mail/mail.errors.js';
import { MailRetries } from '../../mail/mail-retries.js';
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
    const retries = services.get(MailRetries);
    const retried = id === undefined ? await retries.retryFailed(actor) : await retryOne(retries, id, actor);
    return { lines: [`${retried} mails will be sent now`], json: [{ retried }] };
  });
}

async function retryOne(retries: MailRetries, id: string, actor: OperatorActor): Promise<1> {
  try {
    await retries.retryOne(isEntityId(id) ? id : '', actor);
    return 1;
  } catch (error) {
    throw error instanceof MailNotFoundError ? new CannotRunError(error.message) : error;
  }
}
