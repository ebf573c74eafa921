import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Reply } from '../commands.ts';
import { killAtExit } from '../../tooling/processes/at-exit.ts';

export interface ForkedProgram<Command, Result> {
  pid: number;
  /** One at a time. */
  ask(command: Command): Promise<Result>;
}

/** A process of its own, which ends with this one. @param path of its source, from this folder */
export function startForked<Command extends object, Result>(
  path: string,
  execArgv: readonly string[] = [],
): ForkedProgram<Command, Result> {
  const child = fork(fileURLToPath(new URL(path, import.meta.url)), { execArgv: [...execArgv] });
  killAtExit(child);
  return {
    pid: child.pid!,
    ask: (command) =>
      new Promise((resolve, reject) => {
        const exited = (): void => reject(new Error(`The program ${path} ended`));
        child.once('exit', exited);
        child.once('message', (reply: Reply<Result>) => {
          child.off('exit', exited);
          if ('error' in reply) reject(new Error(reply.error));
          else resolve(reply.result);
        });
        child.send(command);
      }),
  };
}
