import type { Engine } from './engine.js';

/** A wait inside a test ends earlier, and says what it was for. */
const HANG_TIMEOUT_MS = 300_000;

const timeouts = { testTimeout: HANG_TIMEOUT_MS, hookTimeout: HANG_TIMEOUT_MS };

export const unitTests = {
  ...timeouts,
  name: 'unit',
  include: ['src/**/*.spec.ts', 'tooling/**/*.spec.ts'],
};

/** The built service over HTTP, on one engine. */
export function testsOn(engine: Engine) {
  return {
    ...timeouts,
    // A fresh worker for each file would cost more than most files do; the state of these is in other processes.
    isolate: false,
    name: engine,
    include: ['test/**/*.e2e-spec.ts'],
    exclude: ['test/faults/**'],
    provide: { engine },
    setupFiles: ['test/support/warnings-only.ts', 'test/support/leave-nothing.ts'],
    globalSetup: [
      'test/support/build-setup.ts',
      ...(engine === 'mariadb' ? ['test/support/mariadb-setup.ts'] : []),
      'test/support/shared-services-setup.ts',
    ],
  };
}
