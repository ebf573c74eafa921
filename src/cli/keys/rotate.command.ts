import { newJwk } from '../../auth/tokens/new-key.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { changeKeys } from './change-keys.js';
import { timeText } from '../times.js';

/** Verifiers may cache the key set for five minutes; the rest is for clocks that differ. */
const PUBLISHED_BEFORE_SIGNING_S = 600;

export async function rotateKeys(invocation: Invocation): Promise<Report> {
  const delay = invocation.options['now'] === true ? 0 : PUBLISHED_BEFORE_SIGNING_S;
  const { kid, nbf } = await changeKeys('keys.rotated', operatorOf(invocation), ({ keys }) => {
    const key = { ...newJwk(), nbf: Math.floor(Date.now() / 1000) + delay };
    return Promise.resolve({ keys: [key, ...keys], kids: [key.kid!], result: key });
  });
  const signsFrom = timeText(nbf * 1000);
  return { lines: [`added ${kid}: it signs from ${signsFrom}`], json: [{ kid, signsFrom }] };
}
