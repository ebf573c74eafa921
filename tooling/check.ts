import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

/** npm scripts, the slowest first. */
const CHECKS = ['build', 'lint', 'prose', 'format:check', 'commits'];

/** Runs them in parallel, as many as there are cores, and shows the output of those that failed. */
async function check(): Promise<void> {
  const waiting = [...CHECKS];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await run(name);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}

async function run(name: string): Promise<void> {
  const begin = performance.now();
  const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const seconds = Math.round((performance.now() - begin) / 1000);
  if (code === 0) return console.log(`${name}: fine (${seconds} s)`);
  console.error(`${name}: FAILED (${seconds} s)\n${output}${errors}`);
  process.exitCode = 1;
}

await check();
