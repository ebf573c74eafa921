import { unwrap } from 'accounts-client';
import type { Answer } from '../bridge.ts';
import { explain } from './explain.ts';
import type { Screen } from './screens.ts';
import {
  attempt,
  narrowScreen,
  onClick,
  onSubmit,
  part,
  replace,
  screenOf,
  setRows,
  setText,
} from './view.ts';

export const logIn: Screen<'logIn'> = async ({ client, desktop, go, enter }) => {
  const screen = screenOf('log-in');
  const config = unwrap(await client.getAuthConfig({ include: ['logins'] }));
  part(screen, 'register').hidden = config.registration === 'closed';
  part(screen, 'forgot').hidden = !config.emailEnabled;
  onClick(screen, 'register', () => go({ at: 'register' }));
  onClick(screen, 'forgot', () => go({ at: 'resetPassword' }));
  setRows(screen, 'providers', config.providers ?? [], (row, { name, title }) => {
    setText(row, { company: `Log in with ${title}` });
    onClick(row, 'company', () => go({ at: 'provider', provider: name }));
  });
  onSubmit(screen, 'form', { email: '', password: '' }, 'Log in', async ({ email, password }) => {
    const login = await client.login({ email, password, deviceName: await desktop.deviceName() });
    if (login.ok) return enter();
    const { problem } = login;
    if (problem.code === 'second_factor_required')
      return go({ at: 'secondStep', challenge: problem.challenge });
    if (problem.code === 'provider_login_required') return go({ at: 'provider', provider: problem.provider });
    return unwrap(login);
  });
  return screen;
};

export const secondStep: Screen<'secondStep'> = async ({ client, go, enter }, { challenge }) => {
  const text = 'Without your phone, enter a recovery code.';
  const screen = narrowScreen('Two-factor authentication', text, 'Back', () => go({ at: 'logIn' }));
  onSubmit(screen, 'form', { appCode: '' }, 'Log in', async ({ appCode }) => {
    const login = await client.completeLogin({ challenge, code: appCode });
    if (!login.ok && login.problem.code === 'invalid_challenge')
      return go({ at: 'logIn', notice: explain(login.problem) });
    unwrap(login);
    return enter();
  });
  return screen;
};

/** The user logs in in the browser, and the main process waits. What Accounts needs then needs no other visit of the browser. */
export const provider: Screen<'provider'> = async ({ desktop, go, enter }, shown) => {
  const text = 'Log in in your browser, which has opened. Then come back to this window.';
  const screen = narrowScreen('Log in with your company', text, 'Cancel', async () => {
    await desktop.cancelLogin();
    return go({ at: 'logIn' });
  });
  part(screen, 'form').hidden = true;
  const continueWith = async (answer: Answer): Promise<unknown> => {
    if (answer.ok) return enter();
    const { code, detail } = answer.problem;
    const needsCode = code.includes('second_factor_code');
    // The user has left this screen, or started over.
    if (code === 'aborted') return undefined;
    if (!needsCode && code !== 'link_required' && code !== 'wrong_password')
      return go({ at: 'logIn', notice: explain(answer.problem) });
    setText(screen, { text: '' });
    if (needsCode) replace(screen, 'form', 'next');
    else replace(screen, 'next', 'form');
    throw new Error(detail, { cause: answer.problem });
  };
  onSubmit(screen, 'form', { password: '' }, 'Connect and log in', async ({ password }) =>
    continueWith(await desktop.proveLogin({ password })),
  );
  onSubmit(screen, 'next', { appCode: '' }, 'Log in', async ({ appCode }) =>
    continueWith(await desktop.proveLogin({ secondFactorCode: appCode })),
  );
  void attempt(screen, async () => continueWith(await desktop.logInAtProvider(shown.provider)));
  return screen;
};
