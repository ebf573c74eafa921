import type { BenchUser } from '../fixture/fixture.ts';
import { exchangeCode } from './account-operations.ts';
import { Fifo } from './fifo.ts';
import type { Operation, OperationName } from './call.ts';
import { me } from './read-operations.ts';
import type { Side } from './side.ts';

/** Parts of 1,000 requests. As many add as take away, so that neither runs out. */
export const SHARES: Record<OperationName, number> = {
  register: 2,
  login: 3,
  'second step': 1,
  refresh: 40,
  'refresh and use': 0,
  me: 250,
  'issue code': 100,
  'exchange code': 100,
  'create organization': 40,
  'organization of 20': 120,
  'list of 20': 120,
  'organization of 1,000': 7,
  'list of 1,000': 7,
  'add member': 65,
  'change role': 70,
  'remove member': 65,
  invite: 5,
  'accept invitation': 5,
};

/** All operations in their shares, evenly interleaved. */
export function mix(side: Side, single: Record<OperationName, Operation>): Operation {
  const operations = { ...single, ...withNewTokens(side, single.me) };
  const next = inShares();
  // An operation with nothing to send, as when every code is in use, is skipped.
  return () => operations[next()]() ?? operations[next()]() ?? single.me();
}

/** Each new token is used once: what a server remembers of tokens grows only with those that it sees. */
function withNewTokens(side: Side, otherwise: Operation): Record<'exchange code' | 'me', Operation> {
  const granted = new Fifo<{ user: BenchUser; token: string }>();
  return {
    'exchange code': () => exchangeCode(side, (user, token) => granted.add({ user, token })),
    me() {
      const grant = granted.take();
      return grant ? me(grant.user, side.fixture.readerOrgs, grant.token) : otherwise();
    },
  };
}

/** Whichever is furthest behind its share is next. */
function inShares(): () => OperationName {
  const shares = Object.entries(SHARES) as [OperationName, number][];
  const total = shares.reduce((sum, [, share]) => sum + share, 0);
  const due = new Map(shares.map(([name]) => [name, 0]));
  return () => {
    for (const [name, share] of shares) due.set(name, due.get(name)! + share);
    const [most] = [...due].reduce((a, b) => (b[1] > a[1] ? b : a));
    due.set(most, due.get(most)! - total);
    return most;
  };
}
