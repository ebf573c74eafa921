import {
  chownSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createFile } from '../../database/sqlite/database-file.js';
import { holdLock } from '../../database/sqlite/sqlite-file-lock.js';
import { readKeyFile } from './key-file.js';
import { keySetText } from './new-key.js';
import { type Jwk, parseKeySet, readKeySet, SigningKeysError } from './signing-keys.js';

export interface LockedKeyFile {
  keys: Jwk[];
  changedAt: number;
  /** Readers get the old keys or the new ones, also after a crash. */
  replace(keys: readonly Jwk[]): void;
  unlock(): void;
}

/** @throws SigningKeysError when another command is changing the file, or it is no key set */
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
    throw new SigningKeysError(`no lock can be made beside ${file} (${(error as Error).message})`);
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
  // A draft that a crash has left is in nobody's way: the lock keeps others from it.
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
    // The service must be able to read what root has written.
    if (uid !== process.geteuid?.() || gid !== process.getegid?.()) fchownSync(descriptor, uid, gid);
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Windows opens no directory, so this does nothing there. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
