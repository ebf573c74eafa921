import type { RefreshDecision, RefreshState } from '../../src/auth/sessions/refresh-rules.js';

const HOUR_MS = 3_600_000;
const GRACE_MS = 30_000;

/** What a session with the state decides about the refresh token of the generation `shown`. */
export interface RefreshRow {
  name: string;
  state: RefreshState & { rotatedForMs: number };
  shown: number;
  graceMs: number;
  decision: RefreshDecision;
}

/** The states are of a session that issued the generations up to 5. */
const ISSUED = 5;

type States = [reissues: number, seenGeneration: number, rotatedForMs: number];

const row = (
  name: string,
  shown: number,
  [reissues, seenGeneration, rotatedForMs]: States,
  decision: RefreshDecision,
  graceMs = GRACE_MS,
): RefreshRow => ({
  name,
  state: { refreshGeneration: ISSUED, reissues, seenGeneration, rotatedForMs },
  shown,
  graceMs,
  decision,
});

const rotate: RefreshDecision = { kind: 'rotate', refreshGeneration: 6, reissues: 0 };
const reissue = (reissues: number): RefreshDecision => ({ kind: 'reissue', refreshGeneration: 6, reissues });
const repeat: RefreshDecision = { kind: 'repeat' };
const reused: RefreshDecision = { kind: 'reused' };

export const REFRESH_TABLE: RefreshRow[] = [
  row('the last one', 5, [0, 4, HOUR_MS], rotate),
  row('the last one, used', 5, [0, 5, HOUR_MS], rotate),
  row('the last one, fresh', 5, [0, 4, 1000], rotate),
  row('the last one after re-issues', 5, [2, 2, HOUR_MS], rotate),
  row('the last one without a grace', 5, [2, 2, HOUR_MS], rotate, 0),

  row('the previous one, fresh, its successor unused', 4, [0, 4, 1000], repeat),
  row('the previous one, fresh, its successor used', 4, [0, 5, 1000], repeat),
  row('the previous one, fresh, the clock set back', 4, [0, 5, -20_000], repeat),
  row('the previous one after re-issues, fresh', 2, [2, 2, 1000], repeat),
  row('the previous one, not fresh, its successor unused', 4, [0, 4, HOUR_MS], reissue(1)),
  row('the previous one, never used, its successor unused', 4, [0, 0, HOUR_MS], reissue(1)),
  row('the previous one after re-issues, not fresh, its successor unused', 2, [2, 2, HOUR_MS], reissue(3)),
  row('the previous one, its successor unused, the clock set far back', 4, [0, 4, -HOUR_MS], reissue(1)),
  row('the previous one, not fresh, its successor used', 4, [0, 5, HOUR_MS], reused),
  row('the previous one, its successor used, the clock set far back', 4, [0, 5, -HOUR_MS], reused),
  row('the previous one after re-issues, not fresh, its successor used', 2, [2, 5, HOUR_MS], reused),
  row('the previous one, fresh, without a grace', 4, [0, 4, 1000], reused, 0),
  row('the previous one, its successor unused, without a grace', 4, [0, 4, HOUR_MS], reused, 0),

  row('a replaced one, fresh', 4, [2, 2, 1000], repeat),
  row('the first replaced one, fresh, its successor used', 3, [2, 5, 1000], repeat),
  row('a replaced one, not fresh', 4, [2, 2, HOUR_MS], reused),
  row('the first replaced one, not fresh', 3, [2, 2, HOUR_MS], reused),
  row('a replaced one, fresh, without a grace', 4, [2, 2, 1000], reused, 0),

  row('an older one, fresh', 3, [0, 4, 1000], reused),
  row('an older one, not fresh', 3, [0, 4, HOUR_MS], reused),
  row('one older than the re-issues, fresh', 1, [2, 2, 1000], reused),
  row('the first one after four re-issues, fresh', 1, [3, 1, 1000], repeat),

  row('a newer one', 6, [0, 4, HOUR_MS], { kind: 'newer' }),
  row('a newer one, fresh', 6, [2, 5, 1000], { kind: 'newer' }),
];

export function rowsOf<Kind extends RefreshDecision['kind']>(...kinds: Kind[]) {
  type Rows = (RefreshRow & { decision: Extract<RefreshDecision, { kind: Kind }> })[];
  return REFRESH_TABLE.filter(({ decision }) => kinds.includes(decision.kind as Kind)) as Rows;
}
