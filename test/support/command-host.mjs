// Runs commands of the built command line one after another, each with its own environment, directory and streams.
import './record-statements.ts';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { format } from 'node:util';

const MAIN = new URL('../../dist/cli/main.js', import.meta.url).href;

let runs = 0;

function replace(name) {
  const stream = new PassThrough();
  Object.defineProperty(process, name, { value: stream, configurable: true });
  return stream;
}

async function run({ parameters, directory, env, input }) {
  process.argv.splice(2, process.argv.length, ...parameters);
  process.chdir(directory);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  replace('stdin').end(input);
  const outputs = [replace('stdout'), replace('stderr')];
  console.error = (...values) => process.stderr.write(`${format(...values)}\n`);
  const texts = Promise.all(outputs.map((stream) => text(stream)));
  const { promise: ended, resolve: end } = Promise.withResolvers();
  process.exit = end;
  process.argv.splice(2, process.argv.length, ...parameters);
  runs += 1;
  await import(`${MAIN}?run=${runs}`);
  const code = await ended;
  for (const stream of outputs) stream.end();
  const [stdout, stderr] = await texts;
  return { code, stdout, stderr };
}

process.on('message', (command) => void run(command).then((result) => process.send(result)));
process.once('disconnect', () => process.reallyExit());
