import { open } from 'node:fs/promises';
import { CannotRunError } from '../../cannot-run.error.js';

export async function openFile(name: string): Promise<AsyncIterable<Buffer>> {
  if (name === '-') return process.stdin;
  try {
    const file = await open(name);
    if ((await file.stat()).isDirectory()) throw new Error(`${name} is a directory`);
    return file.createReadStream() as AsyncIterable<Buffer>;
  } catch (error) {
    throw new CannotRunError(`the file cannot be read: ${(error as Error).message}`);
  }
}
