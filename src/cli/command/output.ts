import type { Writable } from 'node:stream';
import type { Report } from './definition.js';

export const COULD_NOT_RUN = 2;
const UNREAD = 141;

// Resolves when the system has taken the text. So the process may end after the last call, and memory holds one text
// however slowly the pipe is read.
export function write(text: string, output: Writable = process.stdout): Promise<void> {
  return new Promise((resolve) => {
    // On an error, the stream's own listener ends the process.
    output.write(text, (error) => {
      if (!error) resolve();
    });
  });
}

export async function writeReport({ lines, json }: Report, asJson: boolean): Promise<void> {
  const text = asJson ? json.map((value) => JSON.stringify(value)) : lines;
  if (text.length > 0) await write(`${text.join('\n')}\n`);
}

/** Exits as a program that SIGPIPE ends if the reader of the output has left, as `head` does: a change may be half done. */
export function endUnread(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(UNREAD);
  process.stderr.write(`error: standard output cannot be written (${error.code})\n`);
  process.exit(COULD_NOT_RUN);
}
