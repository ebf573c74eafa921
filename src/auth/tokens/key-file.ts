import { randomUUID } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createDirectory, createFile, holdLock, syncDirectory } from '../../database/sqlite/database-file.js';
import {
  type Jwk,
  keySetText,
  newJwk,
  parseKeySet,
  readKeySet,
  type SigningKeys,
  SigningKeysError,
} from './signing-keys.js';

/** Creates no file in production, where instances with different keys would reject each other's tokens. */
export function loadKeyFile(file: string, production: boolean): SigningKeys {
  if (!existsSync(file)) {
    if (production) {
      const remedy = 'create it with accounts keys create, or copy it from another machine';
      throw new SigningKeysError(
        `there is no file ${resolve(file)}, and it is not created in production: ${remedy}`,
      );
    }
    createKeyFile(file);
  }
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

/** Atomic: if several processes create the file at once, the first file stays. Returns undefined if the file exists. */
export function createKeyFile(file: string): Jwk | undefined {
  const draft = `${file}.${randomUUID()}`;
  const key = { ...newJwk(), nbf: Math.floor(Date.now() / 1000) };
  try {
    createDirectory(dirname(resolve(file)));
    writeFileSync(draft, keySetText([key]), { mode: 0o600 });
    linkSync(draft, file);
    return key;
  } catch (error) {
    if (existsSync(file)) return undefined;
    throw new SigningKeysError(`the file ${resolve(file)} cannot be created (${(error as Error).message})`);
  } finally {
    if (existsSync(draft)) rmSync(draft, { force: true });
  }
}

export interface LockedKeyFile {
  keys: Jwk[];
  changedAt: number;
  replace(keys: readonly Jwk[]): void;
  unlock(): void;
}

/** @throws SigningKeysError if another command is changing the file or the file is not a key set */
export function lockKeyFile(path: string): LockedKeyFile {
  const file = realFile(path);
  const unlock = lockFor(file);
  if (!unlock) throw new SigningKeysError(`another command is changing ${file}`);
  try {
    const text = readKeyFile(file);
    readKeySet(text);
    const { mtimeMs } = statSync(file);
    return {
      keys: parseKeySet(text),
      changedAt: mtimeMs,
      replace: (keys) => replaceFile(file, keys),
      unlock,
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

function lockFor(file: string): (() => void) | undefined {
  const lock = `${file}.lock`;
  try {
    createFile(lock);
    const { uid, gid } = statSync(file);
    // The owner of the keys must be able to take the lock that root makes now.
    if (process.geteuid?.() === 0) chownSync(lock, uid, gid);
    return holdLock(lock);
  } catch (error) {
    throw new SigningKeysError(`cannot create a lock next to ${file} (${(error as Error).message})`);
  }
}

function realFile(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new SigningKeysError(`there is no file ${resolve(path)}`);
  }
}

function replaceFile(file: string, keys: readonly Jwk[]): void {
  const draft = `${file}.new`;
  try {
    rmSync(draft, { force: true });
    writeDurably(draft, keySetText(keys), statSync(file));
    renameSync(draft, file);
    syncDirectory(dirname(file));
  } catch (error) {
    rmSync(draft, { force: true });
    throw new SigningKeysError(`the file ${file} cannot be replaced (${(error as Error).message})`);
  }
}

function writeDurably(file: string, text: string, { uid, gid }: { uid: number; gid: number }): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    fchmodSync(descriptor, 0o600);
    // Accounts must be able to read the file that root has written.
    if (uid !== process.geteuid?.() || gid !== process.getegid?.()) fchownSync(descriptor, uid, gid);
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
