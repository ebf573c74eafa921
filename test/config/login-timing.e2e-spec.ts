import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../tooling/processes/usage.js';
import { times } from '../support/at-once.js';
import { invalidCredentials } from '../support/expected.js';
import { anInstallation } from '../support/installation.js';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const CHEAP = { ARGON2_MEMORY_KIB: '1024', ARGON2_TIME: '1' };
/** Fifty times the work, so that hashing is nearly all of a login's time. */
const EXPENSIVE = { ARGON2_MEMORY_KIB: '16384', ARGON2_TIME: '3' };
const LIMITS = { RATE_LIMIT_LOGIN: 'off' };
const PAIRS = 30;
/** Where one of the two costs fifty times the other, so does its processor time. */
const SIMILAR = { least: 0.4, most: 2.5 };

describe.each([
  { change: 'raised', before: CHEAP, after: EXPENSIVE },
  { change: 'lowered', before: EXPENSIVE, after: CHEAP },
])('after the cost of a hash was $change', ({ before, after }) => {
  it('a wrong password takes as much processor time as an unknown e-mail', async () => {
    const installation = await anInstallation();
    const old = await startOwnService({ installation, env: { ...before, ...LIMITS } });
    const { email } = await anAccount(old, 'ada');
    await old.stop();
    const service = await startOwnService({ installation, env: { ...after, ...LIMITS } });
    const fail = async (name: string): Promise<number> => {
      const begin = cpuMs([service.pid])!;
      const answer = await service.anyone.post('/api/auth/login', { email: name, password: aPassword() });
      expect(answer).toMatchObject(invalidCredentials);
      return cpuMs([service.pid])! - begin;
    };
    for (const name of [anEmail(), email]) await fail(name);

    // Alternately, so that other load on the machine affects both. Linux counts in hundredths: only sums tell.
    const sums = { known: 0, unknown: 0 };
    for (const _ of times(PAIRS, () => 0)) {
      sums.known += await fail(email);
      sums.unknown += await fail(anEmail());
    }

    const ratio = sums.known / sums.unknown;
    expect(ratio).toBeGreaterThan(SIMILAR.least);
    expect(ratio).toBeLessThan(SIMILAR.most);
    await service.stop();
    await installation.remove();
  });
});
