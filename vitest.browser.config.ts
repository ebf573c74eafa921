import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { EngineReporter } from './test/support/reporters.js';

const TEST_TIMEOUT_MS = 300_000;

/** Swagger UI, logins at a provider, and the desktop program, in a browser: `npm run test:page`. */
export default defineConfig({
  // For examples/desktop. Electron's binary cannot be installed everywhere.
  resolve: { alias: { electron: resolve('test/browser/support/electron.ts') } },
  test: {
    name: 'browser',
    include: ['test/browser/**/*.browser-spec.ts'],
    fileParallelism: false,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    retry: 0,
    provide: { engine: 'sqlite' },
    setupFiles: ['test/support/setup-file.ts'],
    globalSetup: ['test/browser/support/needed-chromium.ts'],
    reporters: ['verbose', new EngineReporter(true)],
  },
});
