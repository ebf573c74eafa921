import type {
  CodeExchange,
  Operation,
  Refresh,
  SessionEnd,
  SessionUse,
  Timed,
  Violation,
} from '../history.js';
import { broken } from './changes.js';

type Proof = Timed<SessionUse | CodeExchange | Refresh>;

/** A one-time code opens one session at most, and a refresh token is accepted once at most. */
export function acceptedTwice(operations: readonly Operation[]): Violation[] {
  const accepted = operations.filter(({ result }) => result === 'ok');
  const codes = Map.groupBy(accepted.filter(isExchange), ({ session }) => session);
  const tokens = Map.groupBy(accepted.filter(isRefresh), nameOfToken);
  return [
    ...[...codes.values()]
      .filter((uses) => uses.length > 1)
      .map((uses) => broken('code_twice', `a one-time code was exchanged ${uses.length} times`, uses)),
    ...[...tokens.values()]
      .filter((uses) => uses.length > 1)
      .map((uses) =>
        broken('refresh_token_twice', `a refresh token was accepted ${uses.length} times`, uses),
      ),
  ];
}

/** No instance accepts what belongs to a session after the acknowledgement of its end, and none refuses a live one. */
export function brokenSessions(operations: readonly Operation[]): Violation[] {
  const ends = operations.filter(
    (one): one is Timed<SessionEnd> => one.kind === 'end' && one.result !== 'failed',
  );
  const endsOf = grouped(ends);
  const reuses = reusesIn(operations);
  return operations.filter(isProof).flatMap((proof) => {
    const known = above(proof.session).flatMap((session) => endsOf.get(session) ?? []);
    const end = known.find(({ result, endedAt }) => result === 'ok' && endedAt < proof.startedAt);
    if (proof.result === 'ok' && end)
      return [
        broken('dead_session', `accepted after the end of ${proof.session} was acknowledged`, [end, proof]),
      ];

    const isEnding = known.some(({ startedAt }) => startedAt < proof.endedAt);
    const isReused = above(proof.session).some(
      (session) => (reuses.get(session) ?? Infinity) < proof.endedAt,
    );
    if (proof.kind === 'use' && proof.status === 401 && !isEnding && !isReused)
      return [broken('lost_session', `${proof.session} was refused, and no client has ended it`, [proof])];
    return [];
  });
}

function grouped(ends: readonly Timed<SessionEnd>[]): Map<string, Timed<SessionEnd>[]> {
  const groups = new Map<string, Timed<SessionEnd>[]>();
  for (const end of ends) {
    for (const session of end.sessions) groups.set(session, [...(groups.get(session) ?? []), end]);
  }
  return groups;
}

/** When a code or a refresh token was first sent again, which ends its session. */
function reusesIn(operations: readonly Operation[]): Map<string, number> {
  const sent = operations.filter((one) => one.kind === 'exchange' || one.kind === 'refresh');
  const byToken = Map.groupBy(sent, (one) => (one.kind === 'refresh' ? nameOfToken(one) : one.session));
  const reuses = new Map<string, number>();
  for (const uses of byToken.values()) {
    const [, second] = uses.map(({ startedAt }) => startedAt).toSorted((one, other) => one - other);
    const { session } = uses[0]!;
    if (second !== undefined) reuses.set(session, Math.min(second, reuses.get(session) ?? Infinity));
  }
  return reuses;
}

/** The session, and those whose codes led to it. */
function above(session: string): string[] {
  const parts = session.split('/');
  return parts.map((_, last) => parts.slice(0, last + 1).join('/'));
}

const nameOfToken = ({ session, generation }: Refresh): string => `${session} generation ${generation}`;
const isExchange = (one: Operation): one is Timed<CodeExchange> => one.kind === 'exchange';
const isRefresh = (one: Operation): one is Timed<Refresh> => one.kind === 'refresh';
const isProof = (one: Operation): one is Proof => one.kind === 'use' || isExchange(one) || isRefresh(one);
