import { afterAll, describe, expect, it } from 'vitest';
import { invalidCode } from '../support/expected.js';
import { anInvitation, aVerifiedAccount, registerWith, revoke } from '../support/inviting.js';
import { anAccount, anEmail, anOrgOf } from '../support/personas.js';
import { startServiceWithoutLimits } from '../support/service.js';

const PAIRS = 40;
/** Other load on the machine; one write more would show as twice the time. */
const SIMILAR = { least: 0.5, most: 2 };

const service = await startServiceWithoutLimits();
const owner = await anAccount(service);
const org = await anOrgOf(owner);
afterAll(() => service.stop());

describe('the time of an answer does not tell', () => {
  async function timed(work: () => Promise<unknown>): Promise<number> {
    const begin = performance.now();
    await work();
    return performance.now() - begin;
  }

  /** Alternately, so that other load on the machine affects both; it only ever adds time. */
  async function ratioOf(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<number> {
    const [ofOne, ofOther]: number[][] = [[], []];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      ofOne!.push(await timed(one));
      ofOther!.push(await timed(other));
    }
    return Math.min(...ofOne!) / Math.min(...ofOther!);
  }

  it('whether an e-mail that is invited has an account', async () => {
    const known = (await aVerifiedAccount(service)).email;
    const unknown = anEmail();
    const inviteOnce = (email: string) => async () =>
      revoke(owner, org, await anInvitation(owner, org, { email }));

    const ratio = await ratioOf(inviteOnce(known), inviteOnce(unknown));

    expect(ratio).toBeGreaterThan(SIMILAR.least);
    expect(ratio).toBeLessThan(SIMILAR.most);
  });

  it('whether an e-mail that registers with a wrong code is invited', async () => {
    const [invited, other] = [anEmail(), anEmail()];
    await anInvitation(owner, org, { email: invited });
    const tryOnce = (email: string) => async () =>
      expect(await registerWith(service, email, '00000-00000')).toMatchObject(invalidCode);

    const ratio = await ratioOf(tryOnce(invited), tryOnce(other));

    expect(ratio).toBeGreaterThan(SIMILAR.least);
    expect(ratio).toBeLessThan(SIMILAR.most);
  });
});
