/** The counters of a session whose refresh tokens are numbered from 1, by the clock of the database. */
export interface RefreshState {
  /** the refresh token that was issued last */
  refreshGeneration: number;
  /** how many unused successors of the same previous token were replaced */
  reissues: number;
  /** the last generation whose tokens Accounts has accepted */
  seenGeneration: number;
  /** milliseconds since the last issue or first use; negative if the clock was set back, null before the first */
  rotatedForMs: number | null;
}

export type RefreshDecision =
  | { kind: 'rotate' | 'reissue'; refreshGeneration: number; reissues: number }
  | { kind: 'repeat' | 'reused' | 'newer' };

/**
 * Accounts believes only what it has seen: the previous token works until its successor is used, and for `graceMs` after that.
 * Its later use is theft (RFC 9700 section 4.14.2). The caller has checked that the session is alive.
 */
export function decideRefresh(state: RefreshState, shown: number, graceMs: number): RefreshDecision {
  const { refreshGeneration: issued, reissues, seenGeneration, rotatedForMs } = state;
  if (shown > issued) return { kind: 'newer' };
  if (shown === issued) return { kind: 'rotate', refreshGeneration: issued + 1, reissues: 0 };
  const previous = previousOf(state);
  if (graceMs === 0 || shown < previous) return { kind: 'reused' };
  if (rotatedForMs !== null && Math.abs(rotatedForMs) < graceMs) return { kind: 'repeat' };
  // Two copies of a refresh token never share a successor for long, so each of them gets its own.
  if (shown === previous && seenGeneration < issued)
    return { kind: 'reissue', refreshGeneration: issued + 1, reissues: reissues + 1 };
  return { kind: 'reused' };
}

/** The first generation comes from a login, so it has no previous token whose fate its use decides. */
export function isFirstUse(state: Omit<RefreshState, 'rotatedForMs'>, generation: number): boolean {
  return generation > 1 && generation === state.refreshGeneration && state.seenGeneration < generation;
}

export function isReplaced(state: Omit<RefreshState, 'rotatedForMs'>, generation: number): boolean {
  return previousOf(state) < generation && generation < state.refreshGeneration;
}

function previousOf({ refreshGeneration, reissues }: Omit<RefreshState, 'rotatedForMs'>): number {
  return refreshGeneration - 1 - reissues;
}
