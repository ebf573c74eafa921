export interface RoundsPlan {
  connections: number;
  /** even: who comes first in a round is a little slower, and each is first in half of them */
  rounds: number;
  phaseMs: number;
  /** register and login: a hash takes so long that a short run would hold too few for a p99 */
  hashPhaseMs: number;
  warmUpMs: number;
  /** register and login: long enough for as many requests as the compiler needs to see */
  hashWarmUpMs: number;
}

export interface Plan extends RoundsPlan {
  floodRounds: number;
  floodMs: number;
  /** one start is noisy, so the median is reported */
  starts: number;
  /** how long a server does nothing before its memory at rest is taken */
  restMs: number;
  /** for the table beside the baseline */
  budgetMs: number;
  /** for the rounds of every other table */
  roundsBudgetMs: number;
}

export const FULL: Plan = {
  connections: 32,
  rounds: 8,
  phaseMs: 900,
  hashPhaseMs: 1300,
  warmUpMs: 400,
  hashWarmUpMs: 1800,
  floodRounds: 5,
  floodMs: 1200,
  starts: 3,
  restMs: 3000,
  budgetMs: 300_000,
  roundsBudgetMs: 300_000,
};

export const QUICK: Plan = {
  connections: 32,
  rounds: 4,
  phaseMs: 225,
  hashPhaseMs: 400,
  warmUpMs: 250,
  hashWarmUpMs: 400,
  floodRounds: 1,
  floodMs: 700,
  starts: 1,
  restMs: 1000,
  budgetMs: 60_000,
  roundsBudgetMs: 60_000,
};

/** for the table of the feed */
export const FEED = { backlog: 10_000, changesPerSecond: 200, readers: 10 };
