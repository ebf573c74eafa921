import { readable } from '../../auth/mail-codes/mail-code-text.js';
import { MailCodes } from '../../auth/mail-codes/mail-codes.js';
import { MailCodesRepository } from '../../auth/mail-codes/mail-codes.repository.js';
import { HandedOutResetCodes } from '../../auth/recovery/handed-out-reset-codes.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { KeyRing } from '../../auth/tokens/key-ring.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';
import { timeText } from '../times.js';
import { findUser } from './find-user.js';

/** The code does not verify the e-mail, because the operator may tell it to anybody. */
export function resetCode(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const { id, email } = await findUser(services, invocation.parameters[0]!);
    const keys = new KeyRing(loadKeyFile(services.env.jwtKeysFile, true));
    const codes = new MailCodes(services.get(MailCodesRepository), keys);
    const issued = await services.get(HandedOutResetCodes).issue(codes, id, actor);
    const code = readable(codes.textOf(issued));
    const expiresAt = timeText(issued.expiresAt);
    return {
      lines: [`${email} (${id}): a code for a new password, until ${expiresAt}`, `code: ${code}`],
      json: [{ id, email, code, expiresAt }],
    };
  });
}
