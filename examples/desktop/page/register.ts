import { unwrap } from 'accounts-client';
import type { Screen } from './screens.ts';
import { narrowScreen, onSubmit, replace } from './view.ts';

export const register: Screen<'register'> = async (app) => {
  const { client, desktop, go } = app;
  const { registration, passwordMinLength, emailEnabled } = unwrap(await client.getAuthConfig());
  const isInvited = app.invitation !== undefined || registration === 'invited';
  const who = isInvited ? 'Register with the email that was invited, or log in. ' : '';
  const text = `${who}The password has at least ${passwordMinLength} characters.`;
  const screen = narrowScreen('Register', text, 'Log in instead', () => go({ at: 'logIn' }));
  const fields = { name: '', email: '', newPassword: '', invitationCode: app.invitation ?? '' };
  onSubmit(screen, 'form', fields, 'Register', async ({ name, email, newPassword, invitationCode }) => {
    const about = { name: name || null, locale: navigator.language, deviceName: await desktop.deviceName() };
    const login = { email, password: newPassword, invitationCode: invitationCode || null };
    unwrap(await client.register({ ...login, ...about }));
    // The code has verified the email, and the user has joined.
    if (invitationCode) app.invitation = undefined;
    return invitationCode || !emailEnabled ? app.enter() : go({ at: 'verify' });
  });
  return screen;
};

export const verify: Screen<'verify'> = async ({ client, enter }) => {
  const { email } = unwrap(await client.getAccount()).user;
  const screen = narrowScreen('Verify your email', `Accounts sends a code to ${email}.`, 'Later', enter);
  onSubmit(screen, 'form', {}, 'Send the code', async () => {
    unwrap(await client.requestEmailVerification());
    replace(screen, 'form', 'next');
  });
  onSubmit(screen, 'next', { emailCode: '' }, 'Verify', async ({ emailCode }) => {
    unwrap(await client.verifyEmail({ code: emailCode }));
    return enter();
  });
  return screen;
};

export const resetPassword: Screen<'resetPassword'> = async ({ client, go }) => {
  const text = 'If a user has the email, Accounts sends a code to it.';
  const screen = narrowScreen('Reset the password', text, 'Back', () => go({ at: 'logIn' }));
  let email = '';
  onSubmit(screen, 'form', { email }, 'Send a code', async (given) => {
    unwrap(await client.requestPasswordReset(given));
    ({ email } = given);
    replace(screen, 'form', 'next');
  });
  const fields = { emailCode: '', newPassword: '' };
  onSubmit(screen, 'next', fields, 'Change the password', async ({ emailCode, newPassword }) => {
    unwrap(await client.resetPassword({ email, code: emailCode, newPassword }));
    return go({ at: 'logIn', notice: 'The password was changed. Log in with the new one.' });
  });
  return screen;
};
