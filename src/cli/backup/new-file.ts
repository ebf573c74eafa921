import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { CannotRunError } from '../cannot-run.error.js';

/**
 * Has a file written that only its owner can read. It gets its name when it is whole, and is on the disk by then.
 *
 * @throws CannotRunError where there is such a file, or none can be written
 */
export async function newFile(file: string, writeDraft: (draft: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) throw new CannotRunError(`${file} exists, and is not overwritten`);
  const draft = `${file}.${randomUUID()}`;
  create(draft);
  try {
    await writeDraft(draft);
    sync(draft);
    linkSync(draft, file);
    sync(dirname(file));
  } catch (error) {
    throw cannotWrite(error);
  } finally {
    rmSync(draft, { force: true });
  }
}

function create(draft: string): void {
  try {
    closeSync(openSync(draft, 'wx', 0o600));
  } catch (error) {
    throw cannotWrite(error);
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Of the file system or SQLite, which names a full disk; everything else as it is. */
function cannotWrite(error: unknown): unknown {
  const isSystems = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isSystems ? new CannotRunError(`the file cannot be written: ${error.message}`) : error;
}
