import type { RefreshDecision, RefreshState } from '../../src/auth/sessions/refresh-rules.ts';
import { RULES, type Rules } from './accounts.ts';

type Decide = (state: RefreshState, isPrevious: boolean, isReplaced: boolean) => RefreshDecision;

/** Decides as Accounts does, but for one kind of decision. */
function instead(of: RefreshDecision['kind'], decide: Decide): Pick<Rules, 'decideRefresh'> {
  return {
    decideRefresh: (state, shown, graceMs) => {
      const decision = RULES.decideRefresh(state, shown, graceMs);
      const previous = state.refreshGeneration - 1 - state.reissues;
      return decision.kind === of ? decide(state, shown === previous, shown > previous) : decision;
    },
  };
}

const reissue = ({ refreshGeneration }: RefreshState, reissues: number): RefreshDecision => ({
  kind: 'reissue',
  refreshGeneration: refreshGeneration + 1,
  reissues,
});
const never = (): boolean => false;

/** Mistakes, of which the search must find each. */
export const KNOWN_BAD: Record<string, Partial<Rules>> = {
  '30 s and no marks': {
    ...instead('reissue', () => ({ kind: 'reused' })),
    isMarked: never,
    isReplaced: never,
  },
  'a repeat instead of a re-issue': instead('reissue', () => ({ kind: 'repeat' })),
  'the previous token accepted for ever': instead('reused', (state, isPrevious) =>
    isPrevious ? reissue(state, state.reissues + 1) : { kind: 'reused' },
  ),
  'a mark without its generation': { isMarked: (row) => row.seenGeneration < row.refreshGeneration },
  'a replaced token that ends nothing': instead('reused', (_state, _isPrevious, isReplaced) => ({
    kind: isReplaced ? 'newer' : 'reused',
  })),
  'a re-issue that does not move expires_at': { reissueMovesExpiry: false },
  'a re-issue that does not count': instead('reissue', (state) => reissue(state, state.reissues)),
  'a write that does not compare': { comparesRow: false },
  'no marks': { isMarked: never },
  'replaced access tokens accepted': { isReplaced: never },
  'newer tokens accepted': instead('newer', (state) => reissue(state, 0)),
  'work for clients that have gone': { stopsForGoneClients: false },
  'a store that says "saved" too early': { savesBeforeItSaysSo: false },
  'a lock by age': { locksByAge: true },
  'a timeout read as 401': { takesTimeoutForRefusal: true },
};
