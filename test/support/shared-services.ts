import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { COMPILE_CACHE } from './compile-cache.js';
import type { InstallationPlace } from './installation.js';
import { announcedUrl, BUILT_SERVICE, spawnInto } from './service-process.js';
import { keysFileIn } from './signing-keys.js';
import { hangTimeoutMs, waitFor, within } from '../../tooling/wait.js';

/** Where a test file finds a running service. */
export interface SharedPlace extends InstallationPlace {
  url: string;
  /** both outputs of the process, those caused by other files included */
  logFile: string;
}

interface SharedService {
  place: SharedPlace;
  child: ChildProcess;
}

const LAST_CHARACTERS = 4000;

/** Services of the default configuration, one for each worker. They outlive it: a worker may be replaced. */
export class SharedServices {
  private readonly byWorker = new Map<string, SharedService>();
  private readonly all: SharedService[] = [];

  /** Undefined when none runs: a service that a file has ended fails that file, not those after it. */
  find(worker: string): SharedPlace | undefined {
    const service = this.byWorker.get(worker);
    return service && !hasEnded(service.child) ? service.place : undefined;
  }

  async start(worker: string, { directory, databaseUrl }: InstallationPlace): Promise<SharedPlace> {
    const logFile = join(directory, 'log');
    const log = openSync(logFile, 'a');
    const env = { ...COMPILE_CACHE, DATABASE_URL: databaseUrl, JWT_KEYS_FILE: keysFileIn(directory) };
    const child = spawnInto(log, BUILT_SERVICE, directory, env);
    closeSync(log);
    const url = await waitFor('the shared service listens or ends', hangTimeoutMs(), () =>
      hasEnded(child) ? 'ended' : announcedUrl(readFileSync(logFile, 'utf8')),
    );
    if (url === 'ended') throw new Error(`The shared service did not start:\n${endOf(logFile)}`);
    const service = { place: { url, directory, databaseUrl, logFile }, child };
    this.byWorker.set(worker, service);
    this.all.push(service);
    return service.place;
  }

  /** @throws when one did not end as it should */
  async stop(): Promise<void> {
    const stopped = await Promise.allSettled(this.all.map(stopService));
    const errors = stopped.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('\n'));
  }
}

async function stopService({ child, place }: SharedService): Promise<void> {
  if (!hasEnded(child)) {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await within('the shared service ends', hangTimeoutMs(), exited);
  }
  if (child.exitCode !== 0) {
    const how = child.exitCode ?? child.signalCode;
    throw new Error(`The shared service ended with ${how}:\n${endOf(place.logFile)}`);
  }
  await rm(place.directory, { recursive: true, force: true });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function endOf(file: string): string {
  return readFileSync(file, 'utf8').slice(-LAST_CHARACTERS);
}
