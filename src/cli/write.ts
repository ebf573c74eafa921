import type { Writable } from 'node:stream';

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
