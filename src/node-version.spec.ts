import { describe, expect, it } from 'vitest';
import { nodeProblem, OLDEST_NODE } from './node-version.js';

describe('nodeProblem', () => {
  it.each([`${OLDEST_NODE}.0.0`, `${OLDEST_NODE}.21.0`, `${OLDEST_NODE + 1}.0.0`, '100.0.0'])(
    'has nothing against Node %s',
    (version) => {
      expect(nodeProblem('npm start', version)).toBeUndefined();
    },
  );

  it.each([`${OLDEST_NODE - 1}.99.99`, '20.20.2', '9.11.2'])(
    'tells the user of Node %s what to do',
    (version) => {
      expect(nodeProblem('npm run doctor', version)).toBe(
        `Node ${OLDEST_NODE} or newer is needed, this is ${version}. Start with: npm run doctor`,
      );
    },
  );
});
