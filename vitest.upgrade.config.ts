import { defineConfig } from 'vitest/config';
import { EngineReporter } from './test/support/reporters.js';

const TEST_TIMEOUT_MS = 900_000;

/** From the previous release to this version under load, back, and forward again: `npm run test:upgrade`. */
export default defineConfig({
  test: {
    name: 'upgrade',
    include: ['test/upgrade/**/*.upgrade-spec.ts'],
    fileParallelism: false,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    retry: 0,
    provide: { engine: 'mariadb' },
    setupFiles: ['test/support/setup-file.ts'],
    globalSetup: ['test/faults/support/needed-programs.ts', 'test/upgrade/support/build-release.ts'],
    reporters: ['verbose', new EngineReporter(true)],
  },
});
