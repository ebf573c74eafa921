import { afterAll } from 'vitest';
import { removeLeftInstallations } from './installation.js';
import { killRunningServices } from './service-process.js';

afterAll(async () => {
  killRunningServices();
  await removeLeftInstallations();
});
