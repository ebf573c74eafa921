import type { Command, Cost } from '../client/protocol.ts';
import { type ForkedProgram, startForked } from './forked-program.ts';

export type ClientProgram = ForkedProgram<Command, Cost>;

/** A process that does nothing but use the client, so that its processor time is that of the client. */
export function startClientProgram(): ClientProgram {
  return startForked('../client/main.ts', ['--expose-gc']);
}
