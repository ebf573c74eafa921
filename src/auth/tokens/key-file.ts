import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Logger } from '@nestjs/common';
import { keySetText, newJwk } from './new-key.js';
import { type SigningKeys, readKeySet, SigningKeysError } from './signing-keys.js';

/** Creates no file in production: instances with keys of their own would refuse each other's tokens. */
export function loadKeyFile(file: string, production: boolean): SigningKeys {
  if (!existsSync(file)) {
    if (production)
      throw new SigningKeysError(`there is no file ${file}, and it is not created in production`);
    makeKeyFile(file);
  }
  warnIfReadableByOthers(file);
  return readKeySet(readKeyFile(file));
}

/** @throws SigningKeysError */
export function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new SigningKeysError(`the file ${file} cannot be read`);
  }
}

function makeKeyFile(file: string): void {
  try {
    createKeyFile(file);
  } catch (error) {
    throw new SigningKeysError(
      `the file ${file} cannot be created (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

/** Atomic: of several processes that start at once, the first one's file stays. */
function createKeyFile(file: string): void {
  const draft = `${file}.${randomUUID()}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(draft, keySetText([newJwk()]), { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(draft);
  }
}

const READ_BY_OTHERS = 0o044;

function warnIfReadableByOthers(file: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if (process.platform !== 'win32' && mode & READ_BY_OTHERS) {
    new Logger('Tokens').warn(`${file} holds private keys, and its mode lets others read it`);
  }
}
