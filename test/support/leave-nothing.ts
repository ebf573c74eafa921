import { afterAll } from 'vitest';
import { removeLeftInstallations } from './installation.js';
import { killRunningServices } from './service-process.js';

/** Removes what failed tests of the file have left. */
afterAll(async () => {
  killRunningServices();
  await removeLeftInstallations();
});
