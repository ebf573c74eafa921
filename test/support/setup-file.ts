import { Logger } from '@nestjs/common';
import { afterAll } from 'vitest';
import { removeLeftInstallations } from './installation.js';
import { killRunningServices } from './service-process.js';

// What runs in the test's own process, such as its migrations, would fill the summary.
Logger.overrideLogger(['fatal', 'error', 'warn']);

// Of failed tests.
afterAll(async () => {
  killRunningServices();
  await removeLeftInstallations();
});
