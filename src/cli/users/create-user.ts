import { UserOperations } from '../../accounts/user-operations.js';
import { Env } from '../../config/env.js';
import { createdUserView } from '../../operators/views.js';
import { normalizedEmail } from '../../users/email-address.js';
import { PROFILE } from '../../users/profile.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';
import { withContext } from '../command/context.js';
import { emailCodesOf } from './codes.js';

export async function createUser(invocation: Invocation): Promise<Report> {
  const email = normalizedEmail(invocation.parameters[0]);
  if (email === undefined) throw new CannotRunError('expected the email of the new user');
  const name = invocation.read('name', PROFILE.name.read, '1 to 100 characters on one line') ?? null;
  const isVerified = invocation.flag('verified');
  return withContext(async (context) => {
    // A missing key file must fail before the user exists.
    const codes = context.get(Env).smtp ? undefined : emailCodesOf(context);
    const created = await context
      .get(UserOperations)
      .create({ email, name, isVerified }, invocation.operator());
    const view = createdUserView(created, (code) => codes!.textOf(code));
    const label = `${email} (${view.user.id})`;
    const lines =
      view.code === undefined
        ? [`${label}: created, a code to set a password is sent by email`]
        : [
            `${label}: created, with a code to set a password, valid until ${view.expiresAt}`,
            `code: ${view.code}`,
          ];
    return { lines, json: [view] };
  });
}
