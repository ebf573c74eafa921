// Runs the built service again and again, one at a time, each with its own environment and directory.
import './record-statements.ts';
import { setTimeout as sleep } from 'node:timers/promises';

const MAIN = new URL('../../dist/main.js', import.meta.url).href;
const CLOSE_TIMEOUT_MS = 1000;

let runs = 0;
let endMark;
let hasEnded = false;
/** Of the present run, which takes those that it leaves with it. */
const timers = new Set();

function keep(start, stop, isOnce) {
  const [original, clear] = [globalThis[start], globalThis[stop]];
  const kept = (callback, ...more) => {
    const fire = (...parameters) => {
      if (isOnce) timers.delete(timer);
      callback(...parameters);
    };
    const timer = original(fire, ...more);
    timers.add(timer);
    return timer;
  };
  globalThis[start] = Object.defineProperties(kept, Object.getOwnPropertyDescriptors(original));
  globalThis[stop] = (timer) => {
    timers.delete(timer);
    clear(timer);
  };
}
keep('setTimeout', 'clearTimeout', true);
keep('setInterval', 'clearInterval', false);

process.on('message', ({ directory, env, end }) => {
  endMark = end;
  process.chdir(directory);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  runs += 1;
  hasEnded = false;
  void import(`${MAIN}?run=${runs}`);
});

/** Pipes are the outputs and the channel to the tests. */
const hasResources = () => process.getActiveResourcesInfo().some((resource) => resource !== 'PipeWrap');

async function announceEnd(code) {
  for (let waitedMs = 0; hasResources() && waitedMs < CLOSE_TIMEOUT_MS; waitedMs += 5) await sleep(5);
  // What the service has left open could disturb the next one.
  if (hasResources()) process.reallyExit(code);
  for (const output of [process.stdout, process.stderr]) output.write(`${endMark}${code}\n`);
}

process.once('disconnect', () => process.reallyExit());

// The service calls it at its end.
process.exit = (code = 0) => {
  if (hasEnded) return;
  hasEnded = true;
  // Only a service that has begun to serve listens for signals. One that fails then ends as it would alone.
  if (code !== 0 && process.listenerCount('SIGINT') > 0) process.reallyExit(code);
  for (const timer of timers) clearTimeout(timer);
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  void announceEnd(code);
};
