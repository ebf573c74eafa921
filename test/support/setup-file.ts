import { Logger } from '@nestjs/common';
import { afterAll } from 'vitest';
import { removeLeftInstallations } from './installation.js';
import { stopSharedServices } from './service.js';
import { killRunningServices } from './service-process.js';

// What runs in the test's own process, such as its migrations, would fill the summary.
Logger.overrideLogger(['fatal', 'error', 'warn']);

/** Gives shared services back, and removes what failed tests of the file have left. */
afterAll(async () => {
  try {
    await stopSharedServices();
  } finally {
    killRunningServices();
    await removeLeftInstallations();
  }
});
