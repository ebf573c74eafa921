import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CannotRunError } from './definition.js';

interface Question {
  /** the error if the terminal closes */
  unanswered: string;
  isSecret?: boolean;
}

/** Asks on the terminal. Standard output stays free for the result. */
export function ask(prompt: string, { unanswered, isSecret = false }: Question): Promise<string> {
  const discarded = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = isSecret ? discarded : process.stderr;
  if (isSecret) process.stderr.write(prompt);
  const reader = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 });
  return new Promise<string>((resolve, reject) => {
    if (isSecret) reader.once('line', resolve);
    else reader.question(prompt, resolve);
    reader.once('SIGINT', () => reject(new CannotRunError('interrupted')));
    reader.once('close', () => reject(new CannotRunError(unanswered)));
  }).finally(() => {
    reader.close();
    if (isSecret) process.stderr.write('\n');
  });
}
