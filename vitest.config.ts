import { defineConfig } from 'vitest/config';
import { EngineReporter } from './test/support/engine-reporter.js';
import { findMariadb } from './test/support/mariadb.js';

const mariadb = findMariadb() !== undefined;
if (!mariadb && process.env['CI'] === 'true') {
  throw new Error('MariaDB half did NOT run: no mariadbd on this machine, and CI=true asks for both halves');
}

const overHttp = {
  include: ['test/**/*.e2e-spec.ts'],
  exclude: ['test/faults/**'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    maxWorkers: 4,
    reporters: ['default', new EngineReporter(mariadb)],
    projects: [
      { test: { name: 'unit', include: ['src/**/*.spec.ts'] } },
      { test: { ...overHttp, name: 'sqlite', provide: { engine: 'sqlite' } } },
      ...(mariadb
        ? [
            {
              test: {
                ...overHttp,
                name: 'mariadb',
                provide: { engine: 'mariadb' as const },
                globalSetup: ['test/support/mariadb-setup.ts'],
              },
            },
          ]
        : []),
    ],
  },
});
