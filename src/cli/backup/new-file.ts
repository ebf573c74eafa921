import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { CannotRunError } from '../cannot-run.error.js';

/** Writes a file that only its owner can read, and that gets its name once it is complete and on the disk. */
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

/** Explains errors of the file system and of SQLite, which reports a full disk; returns all others unchanged. */
function cannotWrite(error: unknown): unknown {
  const isSystemError = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isSystemError ? new CannotRunError(`the file cannot be written: ${error.message}`) : error;
}
