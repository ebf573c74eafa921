import { createdUserView } from '../../operators/views.js';
import { canonicalEmail } from '../../users/email-address.js';
import { PROFILE } from '../../users/profile.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';
import { withServices } from '../command/services.js';

export async function createUser(invocation: Invocation): Promise<Report> {
  const email = canonicalEmail(invocation.parameters[0]);
  if (email === undefined) throw new CannotRunError('expected the email of the new user');
  const name = invocation.read('name', PROFILE.name.read, '1 to 100 characters on one line') ?? null;
  const isVerified = invocation.flag('verified');
  return withServices(async (services) => {
    // A missing key file must fail before the user exists.
    const codes = services.env.smtp ? undefined : services.emailCodes();
    const created = await services.operations.create({ email, name, isVerified }, invocation.operator());
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
