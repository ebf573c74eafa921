import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { createDirectory } from '../../database/sqlite/database-file.js';
import { keySetText, newJwk } from './new-key.js';
import { type SigningKeys, readKeySet, SigningKeysError } from './signing-keys.js';

/** Creates no file in production: instances with keys of their own would refuse each other's tokens. */
export function loadKeyFile(file: string, production: boolean): SigningKeys {
  if (!existsSync(file)) {
    if (production)
      throw new SigningKeysError(`there is no file ${resolve(file)}, and it is not created in production`);
    makeKeyFile(file);
  }
  warnIfReadableByOthers(file);
  return readKeySet(readKeyFile(file));
}

export function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new SigningKeysError(
      isMissing ? `there is no file ${resolve(file)}` : `the file ${resolve(file)} cannot be read`,
    );
  }
}

function makeKeyFile(file: string): void {
  try {
    createKeyFile(file);
  } catch (error) {
    throw new SigningKeysError(`the file ${resolve(file)} cannot be created (${(error as Error).message})`);
  }
}

/** Creates the file atomically: of several processes that start at once, the first one's file stays. */
function createKeyFile(file: string): void {
  const draft = `${file}.${randomUUID()}`;
  createDirectory(dirname(resolve(file)));
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
