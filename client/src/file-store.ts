import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { withFileLock } from './file-lock.ts';
import type { Slot, TokenStore } from './store.ts';

/**
 * Creates a store that keeps the login in a file that only its owner can read, for command lines and for machines without a
 * keyring. Several processes can share the file. `logOuts` and `me` are in the files `path.logouts` and `path.me`.
 */
export function fileStore(path: string): TokenStore & Required<Pick<TokenStore, 'logOuts' | 'me'>> {
  return {
    ...fileSlot(path),
    lock: (work) =>
      withFileLock(`${path}.lock`, async () => {
        // A killed process may have renamed a file whose directory it had not synced yet.
        await syncDirectory(dirname(path));
        return work();
      }),
    logOuts: fileSlot(`${path}.logouts`),
    me: fileSlot(`${path}.me`),
  };
}

function fileSlot(path: string): Slot {
  return {
    load: () => readFile(path, 'utf8').then((text) => text.trim() || undefined, ifThereIsNone),
    save: (text) => (text === undefined ? rm(path, { force: true }) : replace(path, text)),
  };
}

/** If the process is killed or the power fails, the file has the old or the new text, and the new text once this resolves. */
async function replace(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${text}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Makes the rename durable. Windows cannot open a directory, and some file systems cannot sync one. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined);
  try {
    await directory?.sync();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EIO') throw error;
  } finally {
    await directory?.close();
  }
}

function ifThereIsNone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
