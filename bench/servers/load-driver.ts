import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Fixture } from '../fixture/fixture.ts';
import type { Drive } from '../load/drive.ts';
import type { Flood } from '../load/flood.ts';
import type { Measured } from '../load/measure.ts';
import type { DrivableName } from '../load/call.ts';
import type { Command, Reply } from '../load/protocol.ts';
import { killAtExit } from '../../tooling/processes/at-exit.ts';

export interface LoadDriver {
  pid: number;
  open(side: string, url: string, fixture: Fixture): Promise<void>;
  drive(side: string, operation: DrivableName, drive: Drive): Promise<Measured>;
  flood(side: string, connections: number, durationMs: number): Promise<Flood>;
}

/** The load comes from a process of its own, so that the servers' garbage is not collected on its time. */
export function startLoadDriver(): LoadDriver {
  const child = fork(fileURLToPath(new URL('../load/main.ts', import.meta.url)));
  killAtExit(child);

  const ask = (command: Command): Promise<Measured | Flood | null> =>
    new Promise((resolve, reject) => {
      const exited = (): void => reject(new Error('The load driver ended'));
      child.once('exit', exited);
      child.once('message', (reply: Reply) => {
        child.off('exit', exited);
        if ('error' in reply) reject(new Error(reply.error));
        else resolve(reply.result);
      });
      child.send(command);
    });

  return {
    pid: child.pid!,
    open: async (side, url, fixture) => void (await ask({ type: 'open', side, url, fixture })),
    drive: async (side, operation, drive) =>
      (await ask({ type: 'drive', side, operation, ...drive })) as Measured,
    flood: async (side, connections, durationMs) =>
      (await ask({ type: 'flood', side, connections, durationMs })) as Flood,
  };
}
