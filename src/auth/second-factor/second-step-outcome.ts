import type { NewSession } from '../sessions/new-session.js';

/** Six digits are not compared where too many were wrong. */
export type Refused = 'wrong digits' | 'not compared';

export interface SecondStepOutcome {
  user: { id: string; email: string };
  opened: NewSession | Refused;
}
