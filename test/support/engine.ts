import { inject } from 'vitest';

export type Engine = 'sqlite' | 'mariadb';

declare module 'vitest' {
  export interface ProvidedContext {
    engine: Engine;
    mariadbPort: number;
    sharedServices: string;
  }
}

export const engine: Engine = inject('engine');

/** SQLite serves one process; on MariaDB races are run across several. */
export const instancesInARace = engine === 'sqlite' ? 1 : 3;
export const instancesInADuel = engine === 'sqlite' ? 1 : 2;

/** Of a race: the one process of SQLite runs transactions one after another, so a few rounds show what they can. */
export const roundsOfARace = (rounds: number): number =>
  engine === 'sqlite' ? Math.ceil(rounds / 4) : rounds;
