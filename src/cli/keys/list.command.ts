import { statSync } from 'node:fs';
import { readKeyFile } from '../../auth/tokens/key-file.js';
import { type ScheduledKey, scheduleOf } from '../../auth/tokens/key-schedule.js';
import { readKeySet } from '../../auth/tokens/signing-keys.js';
import { loadEnv } from '../../config/load-env.js';
import type { Report } from '../command.js';
import { timeText } from '../times.js';

export async function listKeys(): Promise<Report> {
  const { jwtKeysFile } = loadEnv();
  const keys = readKeySet(readKeyFile(jwtKeysFile));
  const schedule = scheduleOf(keys, Date.now(), statSync(jwtKeysFile).mtimeMs);
  return { lines: schedule.map(textOf), json: schedule.map(jsonOf) };
}

function textOf({ kid, state, signsFrom }: ScheduledKey): string {
  return `${state.padEnd(10)} ${kid}${state === 'next' ? `  signs from ${timeText(signsFrom)}` : ''}`;
}

function jsonOf({ kid, state, signsFrom, signedUntil }: ScheduledKey): object {
  return {
    kid,
    state,
    ...(signsFrom > 0 && { signsFrom: timeText(signsFrom) }),
    ...(signedUntil !== undefined && { signedUntil: timeText(signedUntil) }),
  };
}
