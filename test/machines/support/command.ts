import { spawn } from 'node:child_process';

export interface Outcome {
  code: number | null;
  /** both outputs, as they came */
  output: string;
}

export interface Running {
  /** what it has written so far */
  output(): string;
  ended: Promise<Outcome>;
  signal(name: NodeJS.Signals): void;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** Ends with this process, however that ends, and after `timeoutMs` at the latest. */
export function start(program: string, args: string[], timeoutMs: number): Running {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  return {
    output: () => output,
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, output }));
    }),
    signal: (name) => child.kill(name),
  };
}

export async function run(
  program: string,
  args: string[],
  timeoutMs: number = DEFAULT_TIMEOUT_MS,
): Promise<string> {
  const { code, output } = await start(program, args, timeoutMs).ended;
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
  return output.trim();
}
