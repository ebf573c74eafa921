import { expectAnswer, is, isText } from './answer.ts';
import type { Call, Operation } from './call.ts';
import { requestText } from './request.ts';
import type { Invited, Invitee, Side } from './side.ts';

type InvitationOperation = 'invite' | 'accept invitation';

export function invitationOperations(side: Side): Record<InvitationOperation, Operation> {
  return {
    invite() {
      const invitee = side.invitees.take();
      return invitee && invite(side, invitee);
    },
    'accept invitation'() {
      const invited = side.invited.take();
      return invited && accept(side, invited);
    },
  };
}

/** Codes are shown, since a benchmark reads no mail. */
function invite(side: Side, invitee: Invitee): Call {
  const { org, keeper, user } = invitee;
  return {
    request: requestText({
      method: 'POST',
      path: `/api/orgs/${org.id}/invitations`,
      token: side.tokenOf(keeper),
      body: { email: user.email, role: 'member', showCode: true },
    }),
    accept(response) {
      const { invitation } = expectAnswer(response, 201, {
        invitation: {
          id: isText,
          email: is(user.email),
          role: is('member'),
          status: is('pending'),
          createdAt: isText,
          expiresAt: isText,
          invitedBy: { userId: is(keeper.id), email: is(keeper.email) },
          code: isText,
        },
      }) as { invitation: { id: string; code: string } };
      side.invited.add({ ...invitee, id: invitation.id, code: invitation.code });
    },
  };
}

function accept(side: Side, { org, user, id, code }: Invited): Call {
  return {
    request: requestText({
      method: 'POST',
      path: `/api/me/invitations/${id}/accept`,
      token: side.tokenOf(user),
      body: { code },
    }),
    accept: (response) =>
      void expectAnswer(response, 200, { org: { id: is(org.id), name: is(org.name) }, role: is('member') }),
  };
}
