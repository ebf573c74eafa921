import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { invalidCredentials, invalidFields } from '../support/expected.js';
import { anAccount, anEmail } from '../support/personas.js';
import { startServiceWithoutLimits } from '../support/service.js';

const MARKS = 4000;
/** Marks of two combining classes in the wrong order: normalization has to move each past all others. */
const HOSTILE = `a${'\u0301'.repeat(MARKS)}${'\u0316'.repeat(MARKS)}`;
/** as many UTF-16 units and octets, in normal form already */
const HARMLESS = `a${'\u00e9'.repeat(2 * MARKS)}`;
const ROUNDS = 9;
/** Without a bound on the length the hostile text takes thirty times as long. */
const MAX_DURATION_RATIO = 5;

const service = await startServiceWithoutLimits();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('text that is costly to normalize', () => {
  it.each<[string, (text: string) => Promise<unknown>, object]>([
    [
      'a password at login',
      (password) => service.anyone.post('/api/auth/login', { email: ada.email, password }),
      invalidCredentials,
    ],
    [
      'a password at registration',
      (password) => service.anyone.post('/api/auth/register', { email: anEmail(), password }),
      invalidFields('password'),
    ],
    ['the name of an organization', (name) => ada.post('/api/orgs', { name }), invalidFields('name')],
    [
      'an e-mail',
      (text) => service.anyone.post('/api/auth/login', { email: `a@${text}.co`, password: 'x' }),
      invalidFields('email'),
    ],
  ])('takes no longer than other text of its length: %s', async (_what, send, refusal) => {
    const durations: { harmless: number[]; hostile: number[] } = { harmless: [], hostile: [] };
    const measure = async (text: string): Promise<number> => {
      const begin = performance.now();
      expect(await send(text)).toMatchObject(refusal);
      return performance.now() - begin;
    };

    for (const _ of times(ROUNDS, () => 0)) {
      durations.harmless.push(await measure(HARMLESS));
      durations.hostile.push(await measure(HOSTILE));
    }

    // Other load only ever adds time.
    expect(Math.min(...durations.hostile)).toBeLessThan(MAX_DURATION_RATIO * Math.min(...durations.harmless));
  });
});
