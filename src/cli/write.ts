import type { Writable } from 'node:stream';

/**
 * To standard output. Resolves when the system has it: the process may end after the last one, and memory holds no
 * more than one, however slowly somebody reads the pipe.
 */
export function write(text: string, output: Writable = process.stdout): Promise<void> {
  return new Promise((resolve) => {
    // Whoever listens to the errors of the stream ends the process.
    output.write(text, (error) => {
      if (!error) resolve();
    });
  });
}
