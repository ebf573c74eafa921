import {
  clockText,
  hostsOf,
  instancesThatCountAlone,
  isClockWrong,
  lastingDifference,
} from '../../auth/tokens/instance-faults.js';
import { FIND_LIVE, type LiveInstance } from '../../auth/tokens/instances.repository.js';
import { type Check, EXAMPLES } from './check.js';

export const INSTANCE_CHECKS: Check[] = [
  instanceCheck(
    'all running instances have the same signing keys',
    'They reject the access tokens of one another. Copy the newest JWT_KEYS_FILE to all of these machines.',
    lastingDifference,
  ),
  instanceCheck(
    'the clocks of all running instances agree with the clock of the database',
    `Run chrony on these machines, and on the machine of the database. Instances whose clocks differ by more than 30 s
       reject the access tokens of one another.`,
    wrongClocks,
  ),
  instanceCheck(
    'no instances that run side by side count rate limits by themselves',
    'Each of them admits as many requests as a limit says. Set REDIS_URL to the same server on all instances.',
    (live) => hostsOf(instancesThatCountAlone(live)),
  ),
];

function instanceCheck(claim: string, remedy: string, faultsOf: (live: LiveInstance[]) => string[]): Check {
  return {
    claim,
    remedy,
    findFaults: async ({ runner }) => {
      const live = (await runner.query(FIND_LIVE)) as LiveInstance[];
      return faultsOf(live).slice(0, EXAMPLES);
    },
  };
}

function wrongClocks(live: readonly LiveInstance[]): string[] {
  const wrong = live.filter(isClockWrong);
  const faults = wrong.map(({ host, clockOffset }) => `${host}: ${clockText(clockOffset!)}`);
  if (wrong.length < live.length || live.length < 2) return faults;
  return ['all instances differ from the database, so its clock is probably the wrong one', ...faults];
}
