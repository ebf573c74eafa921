import { afterAll } from 'vitest';
import { newlyUnlisted } from './statements-setup.js';

/** The doctor and the test of the query plans know only the listed statements. */
afterAll(() => {
  const found = newlyUnlisted();
  if (found.length > 0) {
    throw new Error(`Add these statements to their list by \`npm run statements\`:\n${found.join('\n')}`);
  }
});
