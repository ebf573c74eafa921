import { unwrap } from 'accounts-client';
import type { Screen } from './screens.ts';
import { onClick, onSubmit, part, screenOf, setRows, setText } from './view.ts';

/** Invitations to the user. A link fills in its code, and the user decides. */
export const invitations: Screen<'invitations'> = async (app) => {
  const { client, go } = app;
  const screen = screenOf('invitations');
  const { invitations: list } = unwrap(await client.listReceivedInvitations({ include: ['profile'] }));
  part(screen, 'empty').hidden = list.length > 0;
  setRows(screen, 'list', list, (row, { id: invitationId, org, role, inviter }) => {
    const from = inviter ? ` from ${inviter.name ?? inviter.email}` : '';
    setText(row, { invitation: `${org.name}, as ${role}${from}` });
    onClick(row, 'accept', async () => {
      unwrap(await client.acceptInvitation({ invitationId }));
      return go({ at: 'org', orgId: org.id });
    });
    onClick(row, 'decline', async () => {
      unwrap(await client.declineInvitation({ invitationId }));
      return go({ at: 'invitations', notice: 'The invitation was declined.' });
    });
  });
  const first = { invitationCode: app.invitation ?? '' };
  onSubmit(screen, 'form', first, 'Join', async ({ invitationCode }) => {
    const { org } = unwrap(await client.acceptInvitationByCode({ code: invitationCode }));
    app.invitation = undefined;
    return go({ at: 'org', orgId: org.id });
  });
  return screen;
};
