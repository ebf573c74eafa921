import type { Fixture } from '../fixture/fixture.ts';
import type { Drive } from '../load/drive.ts';
import type { Flood } from '../load/flood.ts';
import type { Measured } from '../load/measure.ts';
import type { DrivableName } from '../load/call.ts';
import type { Command } from '../load/protocol.ts';
import { startForked } from './forked-program.ts';

export interface LoadDriver {
  pid: number;
  open(side: string, url: string, fixture: Fixture): Promise<void>;
  drive(side: string, operation: DrivableName, drive: Drive): Promise<Measured>;
  flood(side: string, connections: number, durationMs: number): Promise<Flood>;
}

/** The load comes from a process of its own, so that the servers' garbage is not collected on its time. */
export function startLoadDriver(): LoadDriver {
  const program = startForked<Command, Measured | Flood | null>('../load/main.ts');
  return {
    pid: program.pid,
    open: async (side, url, fixture) => void (await program.ask({ type: 'open', side, url, fixture })),
    drive: async (side, operation, drive) =>
      (await program.ask({ type: 'drive', side, operation, ...drive })) as Measured,
    flood: async (side, connections, durationMs) =>
      (await program.ask({ type: 'flood', side, connections, durationMs })) as Flood,
  };
}
