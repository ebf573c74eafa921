import { RefusedError } from '../../accounts/accounts.errors.js';
import { readable } from '../../auth/mail-codes/mail-code-text.js';
import { MailCodes } from '../../auth/mail-codes/mail-codes.js';
import { MailCodesRepository } from '../../auth/mail-codes/mail-codes.repository.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { KeyRing } from '../../auth/tokens/key-ring.js';
import { Transactions } from '../../database/transactions.js';
import type { Invocation, Report } from '../command.js';
import { withServices } from '../services.js';
import { timeText } from '../times.js';
import { findUser } from './find-user.js';

/** The code proves no e-mail: the operator may tell it to anybody. */
export function resetCode({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const { id, email, disabledAt } = await findUser(services, parameters[0]!);
    if (disabledAt !== null) throw new RefusedError('the account is disabled (account_disabled)');
    const keys = new KeyRing(loadKeyFile(services.env.jwtKeysFile, true));
    const codes = new MailCodes(services.get(MailCodesRepository), keys);
    const issued = await services
      .get(Transactions)
      .run((transaction) =>
        codes.issue(transaction, { purpose: 'password_reset', subject: email, email, handedOut: true }),
      );
    const code = readable(codes.textOf(issued));
    const expiresAt = timeText(issued.expiresAt);
    return {
      lines: [`${email} (${id}): a code for a new password, until ${expiresAt}`, `code: ${code}`],
      json: [{ id, email, code, expiresAt }],
    };
  });
}
