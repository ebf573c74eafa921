import type { Operation, SessionEnd, SessionProof, Timed, Violation } from '../history.js';
import { broken } from './org-reads.js';

type Proof = Timed<SessionProof>;

const isProof = (one: Operation): one is Proof => 'session' in one;

/** The one-time codes and refresh tokens that were sent, by what names them. */
function sentTokens(operations: readonly Operation[]): Map<string, Proof[]> {
  const sent = operations.filter(isProof).filter(({ kind }) => kind !== 'use');
  return Map.groupBy(sent, (one) =>
    one.kind === 'refresh' ? `${one.session} generation ${one.generation}` : one.session,
  );
}

/** A one-time code opens one session at most, and a refresh token is accepted once at most. */
export function acceptedTwice(operations: readonly Operation[]): Violation[] {
  const accepted = sentTokens(operations.filter(({ result }) => result === 'ok'));
  return [...accepted.values()]
    .filter((uses) => uses.length > 1)
    .map((uses) =>
      uses[0]!.kind === 'exchange'
        ? broken('code_twice', `a one-time code was exchanged ${uses.length} times`, uses)
        : broken('refresh_token_twice', `a refresh token was accepted ${uses.length} times`, uses),
    );
}

/** No instance accepts what belongs to a session after the acknowledgement of its end, and none refuses a live one. */
export function brokenSessions(operations: readonly Operation[]): Violation[] {
  const ends = operations.filter(
    (one): one is Timed<SessionEnd> => one.kind === 'end' && one.result !== 'failed',
  );
  const endsOf = Map.groupBy(
    ends.flatMap((end) => end.sessions.map((session) => ({ session, end }))),
    ({ session }) => session,
  );
  const reuses = reusesIn(operations);
  return operations.filter(isProof).flatMap((proof) => {
    const sessions = above(proof.session);
    const known = sessions.flatMap((session) => endsOf.get(session) ?? []).map(({ end }) => end);
    const end = known.find(({ result, endedAt }) => result === 'ok' && endedAt < proof.startedAt);
    if (proof.result === 'ok' && end) {
      const text = `accepted after the end of ${proof.session} was acknowledged`;
      return [broken('dead_session', text, [end, proof])];
    }
    const isEnding = known.some(({ startedAt }) => startedAt < proof.endedAt);
    const isReused = sessions.some((session) => (reuses.get(session) ?? Infinity) < proof.endedAt);
    if (proof.kind === 'use' && proof.status === 401 && !isEnding && !isReused)
      return [broken('lost_session', `${proof.session} was refused, and no client has ended it`, [proof])];
    return [];
  });
}

/** When a code or a refresh token was first sent again, which ends its session. */
function reusesIn(operations: readonly Operation[]): Map<string, number> {
  const reuses = new Map<string, number>();
  for (const uses of sentTokens(operations).values()) {
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
