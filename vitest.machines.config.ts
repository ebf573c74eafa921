import { defineConfig } from 'vitest/config';
import { EngineReporter } from './test/support/reporters.js';

const TEST_TIMEOUT_MS = 1_200_000;

const onMachines = {
  fileParallelism: false,
  testTimeout: TEST_TIMEOUT_MS,
  hookTimeout: TEST_TIMEOUT_MS,
  retry: 0,
};

/** What needs root and other machines: `npm run test:fresh` and `npm run test:image`. */
export default defineConfig({
  test: {
    reporters: ['verbose', new EngineReporter(true)],
    projects: [
      {
        test: {
          ...onMachines,
          name: 'fresh',
          include: ['test/machines/fresh-*.machine-spec.ts'],
        },
      },
      {
        test: {
          ...onMachines,
          name: 'image',
          include: ['test/machines/{image,compose,unit}.machine-spec.ts'],
          globalSetup: ['test/machines/support/image-setup.ts'],
        },
      },
    ],
  },
});
