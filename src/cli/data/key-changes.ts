import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OperatorActor, principalOf } from '../../access/principal.js';
import { HANDOVER_MS, reEncryptSecrets, type SecretStore } from '../../auth/tokens/re-encryption.js';
import { ProvidersRepository } from '../../auth/providers/providers.repository.js';
import { SecondFactorsRepository } from '../../auth/second-factor/second-factors.repository.js';
import { SessionsRepository } from '../../auth/sessions/sessions.repository.js';
import { LEEWAY_SECONDS } from '../../auth/tokens/access-token.js';
import { hostsOf } from '../../auth/tokens/instance-faults.js';
import { InstancesRepository } from '../../auth/tokens/instances.repository.js';
import { type LockedKeyFile, lockKeyFile } from '../../auth/tokens/key-file.js';
import {
  type Jwk,
  keySetText,
  newJwk,
  readKeySet,
  type ScheduledKey,
  scheduleOf,
  type SigningKeys,
} from '../../auth/tokens/signing-keys.js';
import { Env } from '../../config/env.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { timeText } from '../../identifiers/text.js';
import { RefusedError } from '../../problems/problem.js';
import { type Context, withContext } from '../command/context.js';
import type { Invocation, Report } from '../command/definition.js';

/** Verifiers cache the key set for five minutes; the rest is for clocks that differ. */
const PUBLISHED_BEFORE_SIGNING_S = 600;

export function rotateKeys(invocation: Invocation): Promise<Report> {
  const delay = invocation.flag('now') ? 0 : PUBLISHED_BEFORE_SIGNING_S;
  return changeKeys('keys.rotated', invocation.operator(), async ({ keys }) => {
    const nbf = Math.floor(Date.now() / 1000) + delay;
    const key = { ...newJwk(), nbf };
    const kid = key.kid!;
    const signsFrom = timeText(nbf * 1000);
    const report = { lines: [`added ${kid}: it signs from ${signsFrom}`], json: [{ kid, signsFrom }] };
    return { keys: [key, ...keys], kids: [kid], report };
  });
}

export function pruneKeys(invocation: Invocation): Promise<Report> {
  const atOnce = invocation.flag('now');
  return changeKeys('keys.pruned', invocation.operator(), async (file, context) => {
    const ring = readKeySet(keySetText(file.keys));
    const keys: Jwk[] = [];
    const kids: string[] = [];
    const report: Report = { lines: [], json: [] };
    for (const [index, key] of scheduleOf(ring, Date.now(), file.changedAt).entries()) {
      const { kid, state } = key;
      const keptAtOnce = state === 'signing' ? 'it signs' : undefined;
      const kept = atOnce ? keptAtOnce : await whyKept(key, context);
      if (kept === undefined) kids.push(kid);
      else keys.push(file.keys[index]!);
      report.lines.push(kept === undefined ? `removed ${kid}` : `kept    ${kid}: ${kept}`);
      report.json.push(kept === undefined ? { kid, removed: true } : { kid, removed: false, kept });
    }
    if (kids.length > 0) await reEncrypt(context, ring, kids);
    return { keys, kids, report };
  });
}

export function secretStores(context: Context): SecretStore[] {
  return [
    { purpose: 'second factor secrets', rows: context.get(SecondFactorsRepository) },
    { purpose: 'provider secrets', rows: context.get(ProvidersRepository) },
  ];
}

async function reEncrypt(context: Context, keys: SigningKeys, kids: readonly string[]): Promise<void> {
  const leaving = keys.filter(({ kid }) => kids.includes(kid));
  const left = await reEncryptSecrets(secretStores(context), keys, leaving, async () => {
    console.error(
      `secrets are re-encrypted; waiting ${HANDOVER_MS / 1000} s for instances that still encrypt with an old key`,
    );
    await sleep(HANDOVER_MS);
  });
  if (left > 0) {
    throw new RefusedError(
      `no key was removed: instances still encrypt secrets with old keys (${left} so far). Do they read the same file?`,
    );
  }
}

/** An access token without a refresh token lives as long as its session, and so does a refresh token whose successor is not used. */
async function whyKept(key: ScheduledKey, context: Context): Promise<string | undefined> {
  if (key.signedUntil === undefined) return key.state === 'signing' ? 'it signs' : 'it will sign';
  if (key.signedUntil > Date.now()) return `instances may sign with it until ${timeText(key.signedUntil)}`;
  const lastRefresh = key.signedUntil + context.get(Env).sessionMaxAge * 1000;
  if (lastRefresh > Date.now()) {
    return `a refresh token that it made may be used until ${timeText(lastRefresh)} (SESSION_MAX_AGE)`;
  }
  const expiry = await context.get(SessionsRepository).findLastExpiry(key.signedUntil);
  if (expiry === undefined || expiry + LEEWAY_SECONDS * 1000 < Date.now()) return undefined;
  return `an access token that it signed may be valid until ${timeText(expiry)}`;
}

type KeyChange = { keys: readonly Jwk[]; kids: string[]; report: Report };

// Replaces the file just before COMMIT: an interruption leaves the old or the new keys, and no event of a failed change.
function changeKeys(
  type: 'keys.rotated' | 'keys.pruned',
  actor: OperatorActor,
  decide: (file: LockedKeyFile, context: Context) => Promise<KeyChange>,
): Promise<Report> {
  return withContext(async (context) => {
    const file = lockKeyFile(context.get(Env).jwtKeysFile);
    try {
      const { keys, kids, report } = await decide(file, context);
      const machines = hostsOf(await context.get(InstancesRepository).findLive()).filter(
        (host) => host !== hostname(),
      );
      if (kids.length > 0) {
        await context.get(Transactions).run({ principal: principalOf(actor) }, async (tx) => {
          await context
            .get(EventsRepository)
            .record(tx, ...kids.map((kid) => ({ type, actor, data: { kid } })));
          file.replace(keys);
        });
        report.json = report.json.map((key) => ({ ...key, machines }));
        const next = `replace JWT_KEYS_FILE within 2 minutes on ${machines.join(', ')}, unless they share it`;
        if (machines.length > 0) report.lines.push(next);
      }
      return report;
    } finally {
      file.unlock();
    }
  });
}
