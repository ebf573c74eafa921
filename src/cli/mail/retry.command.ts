import { RefusedError } from '../../problems/refused.error.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { MailsRepository } from '../../mail/mails.repository.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { withServices } from '../services.js';

export function retryMails({ parameters, options }: Invocation): Promise<Report> {
  const [id] = parameters;
  if ((id === undefined) !== (options['failed'] === true)) {
    throw new CannotRunError('expected the id of a mail, or --failed');
  }
  return withServices(async (services) => {
    const mails = services.get(MailsRepository);
    const retried = id === undefined ? await mails.retryFailed(Date.now()) : await retryOne(mails, id);
    return { lines: [`${retried} mails will be sent now`], json: [{ retried }] };
  });
}

async function retryOne(mails: MailsRepository, id: string): Promise<number> {
  const mail = isEntityId(id) ? await mails.find(id) : null;
  if (!mail) throw new CannotRunError('there is no such mail');
  const retried = await mails.retry(id, Date.now());
  if (retried === 0)
    throw new RefusedError(
      `the mail is ${mail.state === 'failed' || mail.state === 'waiting' ? 'expired' : mail.state}`,
    );
  return retried;
}
