import { expectAnswer, is } from './answer.ts';
import type { Fifo } from './fifo.ts';
import type { Call, Operation } from './call.ts';
import { requestText } from './request.ts';
import type { Membership, Side } from './side.ts';

type MemberOperation = 'add member' | 'change role' | 'remove member';

export function memberOperations(side: Side): Record<MemberOperation, Operation> {
  const forNext = (
    from: Fifo<Membership>,
    to: Fifo<Membership>,
    build: (membership: Membership) => Call,
  ): Operation => {
    return () => {
      const membership = from.take();
      if (!membership) return undefined;
      const call = build(membership);
      return {
        request: call.request,
        accept(response) {
          call.accept(response);
          to.add(membership);
        },
      };
    };
  };
  return {
    'add member': forNext(side.absent, side.present, (membership) => add(side, membership)),
    'change role': forNext(side.present, side.present, (membership) => change(side, membership)),
    'remove member': forNext(side.present, side.absent, (membership) => remove(side, membership)),
  };
}

function add(side: Side, membership: Membership): Call {
  const { org, keeper, user } = membership;
  membership.role = 'member';
  return {
    request: requestText({
      method: 'POST',
      path: `/api/orgs/${org.id}/members`,
      token: side.tokenOf(keeper),
      body: { email: user.email, role: 'member' },
    }),
    accept: (response) =>
      void expectAnswer(response, 201, { member: { userId: is(user.id), role: is('member') } }),
  };
}

function change(side: Side, membership: Membership): Call {
  const { org, keeper, user } = membership;
  const role = membership.role === 'member' ? 'admin' : 'member';
  membership.role = role;
  return {
    request: requestText({
      method: 'PATCH',
      path: `/api/orgs/${org.id}/members/${user.id}`,
      token: side.tokenOf(keeper),
      body: { role },
    }),
    accept: (response) =>
      void expectAnswer(response, 200, { member: { userId: is(user.id), role: is(role) } }),
  };
}

function remove(side: Side, { org, keeper, user }: Membership): Call {
  return {
    request: requestText({
      method: 'DELETE',
      path: `/api/orgs/${org.id}/members/${user.id}`,
      token: side.tokenOf(keeper),
    }),
    accept: (response) => void expectAnswer(response, 200, { ok: is(true) }),
  };
}
