import { unwrap } from 'accounts-client';
import { renderSVG } from 'uqr';
import type { Screen } from './screens.ts';
import { onClick, onSubmit, part, replace, screenOf, setRows, setText } from './view.ts';

/** Two-factor authentication, and the devices where the user is logged in. */
export const security: Screen<'security'> = async ({ client, go }) => {
  const screen = screenOf('security');
  const { enabled, recoveryCodesLeft } = unwrap(await client.getSecondFactor());
  const { sessions } = unwrap(await client.listSessions());
  setText(screen, { state: enabled ? `On. ${recoveryCodesLeft} recovery codes are left.` : 'Off.' });
  part(screen, enabled ? 'enroll' : 'remove').hidden = true;

  // A user who logs in at a provider has no password.
  onSubmit(screen, 'enroll', { password: '' }, 'Turn on', async ({ password }) => {
    const { secret, uri } = unwrap(await client.enrollSecondFactor({ password: password || undefined }));
    const code = `data:image/svg+xml,${encodeURIComponent(renderSVG(uri))}`;
    Object.assign(part(screen, 'qr-code'), { src: code });
    setText(screen, { secret });
    replace(screen, 'enroll', 'confirm');
  });
  onSubmit(screen, 'confirm', { appCode: '' }, 'Confirm', async ({ appCode }) => {
    const { recoveryCodes } = unwrap(await client.confirmSecondFactor({ code: appCode }));
    setText(screen, { state: 'On.', codes: recoveryCodes.join('\n') });
    replace(screen, 'confirm', 'recovery');
  });
  onClick(screen, 'kept', () => go({ at: 'security' }));
  onSubmit(screen, 'remove', { password: '', appCode: '' }, 'Turn off', async ({ password, appCode }) => {
    unwrap(await client.removeSecondFactor({ password: password || undefined, code: appCode }));
    return go({ at: 'security' });
  });

  setRows(screen, 'sessions', sessions, (row, { id, current, ...session }) => {
    const device = session.deviceName ?? session.service ?? 'Unknown device';
    const used = `${session.ip ?? ''} ${new Date(session.lastUsedAt).toLocaleString()}`;
    setText(row, { device, used: current ? 'This device' : used });
    part(row, 'end').hidden = current;
    part(row, 'end').ariaLabel = `Log out ${device}`;
    onClick(row, 'end', async () => {
      unwrap(await client.revokeSession({ sessionId: id }));
      return go({ at: 'security' });
    });
  });
  part(screen, 'end-others').hidden = sessions.length < 2;
  onClick(screen, 'end-others', async () => {
    unwrap(await client.revokeSessions());
    return go({ at: 'security', notice: 'Every other device was logged out.' });
  });
  return screen;
};
