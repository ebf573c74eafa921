import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { createKeyFile, readKeyFile } from '../../auth/tokens/key-file.js';
import { readKeySet, scheduleOf } from '../../auth/tokens/signing-keys.js';
import { loadEnv } from '../../config/env.js';
import { timeText } from '../../identifiers/text.js';
import { keyView } from '../../operators/views.js';
import { CannotRunError, type Report } from '../command/definition.js';

export async function createKeys(): Promise<Report> {
  const { jwtKeysFile } = loadEnv();
  const file = resolve(jwtKeysFile);
  const key = createKeyFile(file);
  if (!key) throw new CannotRunError(`${file} already exists: add a key with accounts keys rotate`);
  const next = 'Copy the file to every machine, and back it up with the database.';
  return { lines: [`created ${file} with key ${key.kid}`, next], json: [{ file, kid: key.kid }] };
}

export async function listKeys(): Promise<Report> {
  const { jwtKeysFile } = loadEnv();
  const keys = readKeySet(readKeyFile(jwtKeysFile));
  const schedule = scheduleOf(keys, Date.now(), statSync(jwtKeysFile).mtimeMs);
  return {
    lines: schedule.map(
      ({ kid, state, signsFrom }) =>
        `${state.padEnd(10)} ${kid}${state === 'next' ? `  signs from ${timeText(signsFrom)}` : ''}`,
    ),
    json: schedule.map((key) =>
      Object.fromEntries(Object.entries(keyView(key)).filter(([, value]) => value !== null)),
    ),
  };
}
