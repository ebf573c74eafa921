import { defineConfig } from 'vitest/config';
import type { Engine } from './test/support/engine.js';
import { EngineReporter, ShortReporter, SpreadingSequencer } from './test/support/reporters.js';
import { clientTests, httpTestsOn, operationsTestsOn, unitTests } from './test/support/test-projects.js';
import { findProgram } from './tooling/processes/find-program.js';

const mariadb = ['mariadbd', 'mariadb-install-db'].every((name) => findProgram(name) !== undefined);
if (!mariadb && process.env['CI'] === 'true') {
  throw new Error('MariaDB half did NOT run: no mariadbd on this machine, and CI=true asks for both halves');
}

const engines: Engine[] = mariadb ? ['sqlite', 'mariadb'] : ['sqlite'];

export default defineConfig({
  test: {
    maxWorkers: 3,
    sequence: { sequencer: SpreadingSequencer },
    reporters: [new ShortReporter(), new EngineReporter(mariadb)],
    silent: 'passed-only',
    projects: [
      { test: unitTests },
      { test: clientTests() },
      ...engines.flatMap((engine) => [{ test: httpTestsOn(engine) }, { test: operationsTestsOn(engine) }]),
    ],
  },
});
