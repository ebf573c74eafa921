// Runs the built service again and again, one at a time, each with its own environment and directory.
import { setTimeout as sleep } from 'node:timers/promises';

const MAIN = new URL('../../dist/main.js', import.meta.url).href;
const CLOSE_TIMEOUT_MS = 1000;

let runs = 0;
let timers = [];
let endMark;

function keep(start, clear) {
  const original = globalThis[start];
  const kept = (...parameters) => {
    const timer = original(...parameters);
    timers.push(() => clear(timer));
    return timer;
  };
  globalThis[start] = Object.defineProperties(kept, Object.getOwnPropertyDescriptors(original));
}
keep('setTimeout', clearTimeout);
keep('setInterval', clearInterval);

process.on('message', ({ directory, env, end }) => {
  endMark = end;
  process.chdir(directory);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  runs += 1;
  void import(`${MAIN}?run=${runs}`);
});

/** Pipes are the outputs and the channel to the tests. */
const hasResources = () => process.getActiveResourcesInfo().some((resource) => resource !== 'PipeWrap');

async function announceEnd(code, wasServing) {
  for (let waitedMs = 0; hasResources() && waitedMs < CLOSE_TIMEOUT_MS; waitedMs += 5) await sleep(5);
  // What a service that failed or left something open still does could disturb the next one.
  if ((code !== 0 && wasServing) || hasResources()) process.reallyExit(code);
  for (const output of [process.stdout, process.stderr]) output.write(`${endMark}${code}\n`);
}

process.once('disconnect', () => process.reallyExit());

// The service calls it at its end.
process.exit = (code = 0) => {
  // Only a service that has begun to serve listens for signals.
  const wasServing = process.listenerCount('SIGINT') > 0;
  for (const clear of timers) clear();
  timers = [];
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  void announceEnd(code, wasServing);
};
