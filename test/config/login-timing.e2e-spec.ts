import { describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { invalidCredentials } from '../support/expected.js';
import { anInstallation } from '../support/installation.js';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { startService } from '../support/service.js';

const CHEAP = { ARGON2_MEMORY_KIB: '1024', ARGON2_TIME: '1' };
/** Fifty times the work, so that hashing is nearly all of a login's time. */
const EXPENSIVE = { ARGON2_MEMORY_KIB: '16384', ARGON2_TIME: '3' };
const LIMITS = { RATE_LIMIT_LOGIN: 'off' };
const PAIRS = 30;
/** Where one of the two costs fifty times the other, its quick logins take many times as long. */
const SIMILAR = { least: 0.4, most: 2.5 };

describe.each([
  { change: 'raised', before: CHEAP, after: EXPENSIVE },
  { change: 'lowered', before: EXPENSIVE, after: CHEAP },
])('after the cost of a hash was $change', ({ before, after }) => {
  it('a wrong password takes as long as an unknown e-mail', async () => {
    const installation = await anInstallation();
    const old = await startService({ installation, env: { ...before, ...LIMITS } });
    const { email } = await anAccount(old, 'ada');
    await old.stop();
    const service = await startService({ installation, env: { ...after, ...LIMITS } });
    const fail = async (name: string): Promise<number> => {
      const begin = performance.now();
      const answer = await service.anyone.post('/api/auth/login', { email: name, password: aPassword() });
      expect(answer).toMatchObject(invalidCredentials);
      return performance.now() - begin;
    };
    for (const name of [anEmail(), email]) await fail(name);

    // Alternately, so that other load on the machine affects both.
    const [known, unknown]: number[][] = [[], []];
    for (const _ of times(PAIRS, () => 0)) {
      known!.push(await fail(email));
      unknown!.push(await fail(anEmail()));
    }

    const ratio = quick(known!) / quick(unknown!);
    expect(ratio).toBeGreaterThan(SIMILAR.least);
    expect(ratio).toBeLessThan(SIMILAR.most);
    await service.stop();
    await installation.remove();
  });
});

/** The lower quartile: other load only ever adds time. */
function quick(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 2]!;
}
