import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CannotRunError } from './definition.js';

const MAX_BYTES = 4096;

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

/** Reads one line from a pipe. @param orElse the end of the error if there is none */
export async function readLine(what: string, orElse = ''): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length > MAX_BYTES || bytes.includes('\n')) break;
  }
  const [line = '', ...rest] = bytes.toString('utf8').split(/\r?\n/);
  if (line === '') throw new CannotRunError(`standard input has no ${what}: pipe it as one line${orElse}`);
  if (bytes.length > MAX_BYTES || rest.some((more) => more !== '')) {
    throw new CannotRunError(`standard input has more than one line: pipe the ${what} as one line`);
  }
  return line;
}
