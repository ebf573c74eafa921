import { findProgram } from '../../../tooling/processes/find-program.js';

/** Nothing is skipped silently. */
export default function setup(): void {
  if (findProgram('chromium') !== undefined) return;
  throw new Error('npm run test:page did NOT run; it needs chromium (Debian: chromium)');
}
