import { type DataOf, unwrap } from 'accounts-client';
import { changeWithFixes } from './remedies.ts';
import type { App } from './screens.ts';
import { onClick, onSubmit, part, setRows, setText } from './view.ts';

/** The part of an organization where admins invite. */
export async function invite(app: App, screen: HTMLElement, orgId: string, isAdmin: boolean): Promise<void> {
  const { client, go } = app;
  part(screen, 'invitations').hidden = !isAdmin;
  if (!isAdmin) return;
  const { invitations } = unwrap(await client.listInvitations({ orgId, status: 'pending', limit: 1000 }));
  setRows(screen, 'pending', invitations, (row, { id: invitationId, email, role, expiresAt }) => {
    setText(row, { invited: email, until: `${role}, until ${new Date(expiresAt).toLocaleDateString()}` });
    onClick(row, 'revoke', async () => {
      unwrap(await client.revokeInvitation({ orgId, invitationId }));
      return go({ at: 'org', orgId, notice: 'The invitation was revoked.' });
    });
  });
  const change = changeWithFixes(app, screen, orgId);
  onSubmit(screen, 'invite', { email: '', role: 'member' }, 'Invite', ({ email, role }) => {
    const input = { orgId, email, role: role as 'member' | 'admin', remedy: true };
    const after = () => go({ at: 'org', orgId, notice: `${email} was invited.` });
    return change(() => client.createInvitation(input), after);
  });
}

/** The part where owners require two-factor authentication of all members. */
export function requireSecondFactor(
  app: App,
  screen: HTMLElement,
  { id: orgId, secondFactorRequiredFrom: from }: DataOf<'getOrg'>['org'],
  isOwner: boolean,
): void {
  const { client, go } = app;
  setText(screen, {
    requirement: from ? `Required from ${new Date(from).toLocaleDateString()}.` : 'Optional.',
  });
  part(screen, 'require').hidden = !isOwner || Boolean(from);
  part(screen, 'stop').hidden = !isOwner || !from;
  const change = changeWithFixes(app, screen, orgId);
  const reload = (): Promise<undefined> => go({ at: 'org', orgId });
  onSubmit(screen, 'require', { from: '' }, 'Require', async (given) => {
    const input = { orgId, secondFactorRequiredFrom: `${given.from}T00:00:00Z`, remedy: true };
    const preview = await client.updateOrg({ ...input, dryRun: true });
    const text = `${preview.ok ? preview.data.affected : 0} members have to turn it on, or they are suspended.`;
    if (!preview.ok || confirm(text)) await change(() => client.updateOrg(input), reload);
  });
  onClick(screen, 'stop', () =>
    change(() => client.updateOrg({ orgId, secondFactorRequiredFrom: null, remedy: true }), reload),
  );
}
