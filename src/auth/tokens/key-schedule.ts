import type { SigningKey, SigningKeys } from './signing-keys.js';
import { signingKeyAt } from './signing-keys.js';

/** How long an instance may go on signing with a key that another one follows: clocks, and the file's next look. */
const HANDOVER_MS = 60_000;

export interface ScheduledKey {
  kid: string;
  /** signs now; will sign; signed before */
  state: 'signing' | 'next' | 'verifying';
  /** epoch milliseconds; 0 where the file says nothing */
  signsFrom: number;
  /** epoch milliseconds when nobody signs with it any more; undefined for the one that signs and those that will */
  signedUntil: number | undefined;
}

/**
 * What each key of the file is for at a time.
 *
 * @param changedAt when the file was last changed: what it says nothing of was so by then
 */
export function scheduleOf(keys: SigningKeys, now: number, changedAt: number): ScheduledKey[] {
  const signing = signingKeyAt(keys, now);
  const place = keys.indexOf(signing);
  return keys.map((key, index) => ({
    kid: key.kid,
    state: stateOf(index, place),
    signsFrom: key.signsFrom,
    signedUntil: index > place ? followedAt(keys.slice(0, index), changedAt) + HANDOVER_MS : undefined,
  }));
}

function stateOf(index: number, signing: number): ScheduledKey['state'] {
  if (index === signing) return 'signing';
  return index < signing ? 'next' : 'verifying';
}

/** Since the first of those before it could sign, a key has not signed. */
function followedAt(before: readonly SigningKey[], changedAt: number): number {
  return Math.min(...before.map(({ signsFrom }) => signsFrom || changedAt));
}
