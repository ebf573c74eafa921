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

/** What files may share. */
export interface SharedKind {
  name: string;
  instances: number;
  env: Record<string, string>;
}

interface InstancePlace {
  url: string;
  /** both outputs of the process, those caused by other files included */
  logFile: string;
}

/** Where a test file finds running instances on one installation. */
export interface SharedPlace extends InstallationPlace {
  kind: string;
  instances: InstancePlace[];
}

interface SharedInstance extends InstancePlace {
  child: ChildProcess;
}

interface SharedCluster {
  place: SharedPlace;
  instances: SharedInstance[];
}

const LAST_CHARACTERS = 4000;

/**
 * Services that one file after another uses. They outlive the workers, which may be replaced. What a file does not
 * give back, because it failed, is used by no other.
 */
export class SharedServices {
  private readonly all = new Map<string, SharedCluster>();
  private readonly free = new Set<SharedCluster>();

  /** Undefined when files use all of that kind. */
  take(kind: string): SharedPlace | undefined {
    for (const cluster of this.free) {
      if (cluster.place.kind !== kind) continue;
      this.free.delete(cluster);
      if (!cluster.instances.some(({ child }) => hasEnded(child))) return cluster.place;
    }
    return undefined;
  }

  /** Starts one more, for the file that asks. */
  async start(kind: SharedKind, { directory, databaseUrl }: InstallationPlace): Promise<SharedPlace> {
    const instances = await Promise.all(
      Array.from({ length: kind.instances }, (_, index) =>
        startInstance({ directory, databaseUrl }, kind.env, join(directory, `log-${index}`)),
      ),
    );
    const places = instances.map(({ url, logFile }) => ({ url, logFile }));
    const place = { kind: kind.name, directory, databaseUrl, instances: places };
    this.all.set(directory, { place, instances });
    return place;
  }

  giveBack({ directory }: Pick<SharedPlace, 'directory'>): void {
    this.free.add(this.all.get(directory)!);
  }

  /** @throws when one did not end as it should */
  async stop(): Promise<void> {
    const stopped = await Promise.allSettled([...this.all.values()].map(stopCluster));
    const errors = stopped.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('\n'));
  }
}

async function startInstance(
  { directory, databaseUrl }: InstallationPlace,
  env: Record<string, string>,
  logFile: string,
): Promise<SharedInstance> {
  const log = openSync(logFile, 'a');
  const installed = { DATABASE_URL: databaseUrl, JWT_KEYS_FILE: keysFileIn(directory) };
  const child = spawnInto(log, BUILT_SERVICE, directory, { ...COMPILE_CACHE, ...installed, ...env });
  closeSync(log);
  const url = await waitFor('the shared service listens or ends', hangTimeoutMs(), () =>
    hasEnded(child) ? 'ended' : announcedUrl(readFileSync(logFile, 'utf8')),
  );
  if (url === 'ended') throw new Error(`The shared service did not start:\n${endOf(logFile)}`);
  return { url, logFile, child };
}

async function stopCluster({ instances, place }: SharedCluster): Promise<void> {
  for (const instance of instances) await stopInstance(instance);
  await rm(place.directory, { recursive: true, force: true });
}

async function stopInstance({ child, logFile }: SharedInstance): Promise<void> {
  if (!hasEnded(child)) {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await within('the shared service ends', hangTimeoutMs(), exited);
  }
  if (child.exitCode !== 0) {
    const how = child.exitCode ?? child.signalCode;
    throw new Error(`The shared service ended with ${how}:\n${endOf(logFile)}`);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function endOf(file: string): string {
  return readFileSync(file, 'utf8').slice(-LAST_CHARACTERS);
}
