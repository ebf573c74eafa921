import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { EngineReporter } from './test/support/reporters.js';
import { ReliabilityReporter } from './test/faults/support/reliability-reporter.js';
import { temporaryDirectory } from './tooling/processes/at-exit.js';

const results = temporaryDirectory('faults');

const client = (path: string): string => join(import.meta.dirname, 'client/src', path);

export default defineConfig({
  resolve: {
    alias: [
      { find: /^accounts-client$/, replacement: client('index.ts') },
      { find: /^accounts-client\/service$/, replacement: client('service/index.ts') },
    ],
  },
  test: {
    name: 'faults',
    include: ['test/faults/**/*.e2e-spec.ts'],
    // One file at a time: they measure how long answers take.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    retry: 0,
    env: { FAULT_RESULTS: results },
    provide: { engine: 'mariadb' },
    setupFiles: ['test/support/setup-file.ts'],
    globalSetup: ['test/faults/support/needed-programs.ts'],
    reporters: ['verbose', new ReliabilityReporter(results), new EngineReporter(true)],
  },
});
