import { defineConfig } from 'vitest/config';
import { EngineReporter } from './test/support/reporters.js';

const TEST_TIMEOUT_MS = 300_000;

/** Swagger UI, and logins at a provider, in a browser: `npm run test:page`. */
export default defineConfig({
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
