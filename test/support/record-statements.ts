// Loaded before the built service or command line.
import { subscribe } from 'node:diagnostics_channel';
import { ENGINES, noteSent } from '../../tooling/statements.ts';

/** These commands read whole tables, or try what the server refuses. */
const EXCEPTION = /^(?:doctor|copy-from|--connect)$/;

for (const engine of ENGINES) {
  subscribe(`accounts.${engine}`, (sql) => {
    if (!process.argv.some((word) => EXCEPTION.test(word))) noteSent(engine, sql as string);
  });
}
