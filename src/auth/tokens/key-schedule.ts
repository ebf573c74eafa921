import type { SigningKey, SigningKeys } from './signing-keys.js';
import { signingKeyAt } from './signing-keys.js';

/** An instance may sign this long with a key that another one follows: clocks differ, and it has to look at the file. */
const HANDOVER_MS = 60_000;

export interface ScheduledKey {
  kid: string;
  state: 'signing' | 'next' | 'verifying';
  signsFrom: number;
  /** epoch milliseconds when nobody signs with it any more; undefined for the one that signs and those that will */
  signedUntil: number | undefined;
}

/** @param changedAt when the file was last changed; a key without `nbf` could sign by then */
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

/** A key stopped signing when the first of those before it could sign. */
function followedAt(before: readonly SigningKey[], changedAt: number): number {
  return Math.min(...before.map(({ signsFrom }) => signsFrom || changedAt));
}
