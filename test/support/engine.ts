import { inject } from 'vitest';

export type Engine = 'sqlite' | 'mariadb';

declare module 'vitest' {
  export interface ProvidedContext {
    engine: Engine;
    mariadbPort: number;
    /** where a file asks for services that it shares with others */
    sharedServices: string;
  }
}

/** The database that this run of the test file is about. */
export const engine: Engine = inject('engine');

/** SQLite serves one process; on MariaDB races are run across several. */
export const instancesInARace = engine === 'sqlite' ? 1 : 3;
/** The same for two clients. */
export const instancesInADuel = engine === 'sqlite' ? 1 : 2;
