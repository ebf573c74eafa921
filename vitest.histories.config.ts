import { defineConfig } from 'vitest/config';
import { EngineReporter } from './test/support/reporters.js';

const isOwnDatabase = process.env['TEST_DATABASE_URL'] !== undefined;

/** Clients and faults, and a checker of what clients saw: `npm run test:histories`. */
export default defineConfig({
  test: {
    name: 'histories',
    include: ['test/histories/**/*.history-spec.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    retry: 0,
    disableConsoleIntercept: true,
    provide: { engine: 'sqlite' },
    setupFiles: ['test/support/setup-file.ts'],
    globalSetup: isOwnDatabase ? [] : ['test/faults/support/needed-programs.ts'],
    reporters: ['verbose', new EngineReporter(true)],
  },
});
