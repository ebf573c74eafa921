import { afterAll } from 'vitest';
import { removeLeftInstallations } from './installation.js';
import { killRunningServices } from './service-process.js';

/** A test that fails half-way leaves what it started: none of it outlives its file. */
afterAll(async () => {
  killRunningServices();
  await removeLeftInstallations();
});
