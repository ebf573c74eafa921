import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CannotRunError } from '../cannot-run.error.js';

const MAX_BYTES = 4096;

/** Asks twice at a terminal and does not show what is typed; elsewhere, one line of standard input is the password. */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return readLine();
  const first = await ask('New password: ');
  if ((await ask('Again: ')) !== first) throw new CannotRunError('the two passwords differ');
  return first;
}

async function readLine(): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length > MAX_BYTES || bytes.includes('\n')) break;
  }
  const [line = '', ...rest] = bytes.toString('utf8').split(/\r?\n/);
  if (line === '')
    throw new CannotRunError('no password came on standard input: pipe one line, or use --generate');
  if (bytes.length > MAX_BYTES || rest.some((more) => more !== '')) {
    throw new CannotRunError('more than one line came on standard input: pipe the password as one line');
  }
  return line;
}

/** Prompts on standard error: standard output is for results. */
function ask(prompt: string): Promise<string> {
  process.stderr.write(prompt);
  const discarded = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: discarded, terminal: true, historySize: 0 });
  return new Promise((resolve, reject) => {
    reader.once('line', resolve);
    reader.once('SIGINT', () => reject(new CannotRunError('interrupted')));
    reader.once('close', () => reject(new CannotRunError('no password was typed')));
  }).finally(() => {
    reader.close();
    process.stderr.write('\n');
  }) as Promise<string>;
}
