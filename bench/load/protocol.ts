import type { Fixture } from '../fixture/fixture.ts';
import type { Drive } from './drive.ts';
import type { DrivableName } from './call.ts';

/** The benchmark sends these to the process that makes the load, one at a time. */
export type Command =
  | { type: 'open'; side: string; url: string; fixture: Fixture }
  | ({ type: 'drive'; side: string; operation: DrivableName } & Drive)
  | { type: 'flood'; side: string; connections: number; durationMs: number };
