import { setTimeout as sleep } from 'node:timers/promises';
import { LEEWAY_SECONDS } from '../../auth/tokens/access-token.js';
import { type ScheduledKey, scheduleOf } from '../../auth/tokens/key-schedule.js';
import { HANDOVER_MS, SealingAnew } from '../../auth/tokens/sealing-anew.js';
import { type Jwk, readKeySet, type SigningKeys } from '../../auth/tokens/signing-keys.js';
import { keySetText } from '../../auth/tokens/new-key.js';
import { SessionsRepository } from '../../auth/sessions/sessions.repository.js';
import type { Env } from '../../config/env.js';
import { RefusedError } from '../../problems/problem.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { changeKeys } from './change-keys.js';
import { timeText } from '../times.js';

interface Judged {
  kid: string;
  jwk: Jwk;
  /** why the key stays; undefined if it is removed */
  kept: string | undefined;
}

export async function pruneKeys(invocation: Invocation): Promise<Report> {
  const atOnce = invocation.options['now'] === true;
  const judged = await changeKeys('keys.pruned', operatorOf(invocation), async (file, services) => {
    const keys = readKeySet(keySetText(file.keys));
    const schedule = scheduleOf(keys, Date.now(), file.changedAt);
    const sessions = services.get(SessionsRepository);
    const result: Judged[] = [];
    for (const [index, key] of schedule.entries()) {
      const kept = atOnce ? whyKeptAtOnce(key) : await whyKept(key, sessions, services.env);
      result.push({ kid: key.kid, jwk: file.keys[index]!, kept });
    }
    const kids = result.filter(({ kept }) => kept === undefined).map(({ kid }) => kid);
    const rest = result.filter(({ kept }) => kept !== undefined).map(({ jwk }) => jwk);
    if (kids.length === 0) return { keys: undefined, kids, result };
    await relieve(services.get(SealingAnew), keys, kids);
    return { keys: rest, kids, result };
  });
  return {
    lines: judged.map(({ kid, kept }) => (kept === undefined ? `removed ${kid}` : `kept    ${kid}: ${kept}`)),
    json: judged.map(({ kid, kept }) =>
      kept === undefined ? { kid, removed: true } : { kid, removed: false, kept },
    ),
  };
}

async function relieve(sealing: SealingAnew, keys: SigningKeys, kids: readonly string[]): Promise<void> {
  const leaving = keys.filter(({ kid }) => kids.includes(kid));
  const left = await sealing.relieve(keys, leaving, handover);
  if (left > 0) {
    throw new RefusedError(
      `no key was removed: instances still seal secrets with them (${left} so far); do they read the same file?`,
    );
  }
}

async function handover(): Promise<void> {
  console.error(
    `secrets are sealed anew; waiting ${HANDOVER_MS / 1000} s for instances that still seal with an old key`,
  );
  await sleep(HANDOVER_MS);
}

function whyKeptAtOnce({ state }: ScheduledKey): string | undefined {
  return state === 'signing' ? 'it signs' : undefined;
}

/** A token that is not refreshed was signed when its session began, and lives as long as the session. */
async function whyKept(
  key: ScheduledKey,
  sessions: SessionsRepository,
  { sessionIdle }: Pick<Env, 'sessionIdle'>,
): Promise<string | undefined> {
  if (key.signedUntil === undefined) return key.state === 'signing' ? 'it signs' : 'it will sign';
  if (key.signedUntil > Date.now()) return `instances may sign with it until ${timeText(key.signedUntil)}`;
  const lastRefresh = key.signedUntil + sessionIdle * 1000;
  if (lastRefresh > Date.now()) {
    return `a refresh token that it made may be used until ${timeText(lastRefresh)} (SESSION_IDLE)`;
  }
  const expiry = await sessions.findLastExpiry(key.signedUntil);
  if (expiry === undefined || expiry + LEEWAY_SECONDS * 1000 < Date.now()) return undefined;
  return `a token that it signed may live until ${timeText(expiry)}`;
}
