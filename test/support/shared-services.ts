import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { hangTimeoutMs, waitFor, within } from '../../tooling/wait.js';
import type { InstallationPlace } from './installation.js';
import { announcedUrl, BUILT_SERVICE, COMPILE_CACHE, spawnInto } from './service-process.js';
import { keysFileIn } from './signing-keys.js';

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

export interface SharedPlace extends InstallationPlace {
  kind: string;
  instances: InstancePlace[];
}

interface SharedCluster {
  place: SharedPlace;
  instances: (InstancePlace & { child: ChildProcess })[];
}

const LAST_CHARACTERS = 4000;

/**
 * Keeps the services that one file of a project after another uses. They outlive the workers, which may be replaced.
 * What a file does not give back, because it failed, is used by no other.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const all = new Map<string, SharedCluster>();
  const free = new Set<SharedCluster>();

  const routes: Record<string, (body: unknown) => SharedPlace | undefined | Promise<SharedPlace>> = {
    '/take': (body) => {
      const found = [...free].find(({ place }) => place.kind === (body as SharedKind).name);
      if (!found) return undefined;
      free.delete(found);
      return found.instances.some(({ child }) => hasEnded(child)) ? undefined : found.place;
    },
    '/start': async (body) => {
      const { kind, installation } = body as { kind: SharedKind; installation: InstallationPlace };
      const cluster = await startCluster(kind, installation);
      all.set(installation.directory, cluster);
      return cluster.place;
    },
    '/give-back': (body) => {
      free.add(all.get((body as SharedPlace).directory)!);
      return undefined;
    },
  };
  const server = createServer((request, response) => {
    json(request)
      .then((body) => routes[request.url!]!(body))
      .then(
        (place) => response.writeHead(place ? 200 : 404).end(JSON.stringify(place)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  project.provide('sharedServices', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    const stopped = await Promise.allSettled([...all.values()].map(stopCluster));
    const errors = stopped.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('\n'));
  };
}

async function startCluster(kind: SharedKind, installation: InstallationPlace): Promise<SharedCluster> {
  const { directory, databaseUrl } = installation;
  const env = {
    ...COMPILE_CACHE,
    DATABASE_URL: databaseUrl,
    JWT_KEYS_FILE: keysFileIn(directory),
    ...kind.env,
  };
  const instances = await Promise.all(
    Array.from({ length: kind.instances }, async (_, index) => {
      const logFile = join(directory, `log-${index}`);
      const log = openSync(logFile, 'a');
      const child = spawnInto(log, BUILT_SERVICE, directory, env);
      closeSync(log);
      const url = await waitFor('the shared service listens or ends', hangTimeoutMs(), () =>
        hasEnded(child) ? 'ended' : announcedUrl(readFileSync(logFile, 'utf8')),
      );
      if (url === 'ended') throw new Error(`The shared service did not start:\n${endOf(logFile)}`);
      return { url, logFile, child };
    }),
  );
  const places = instances.map(({ url, logFile }) => ({ url, logFile }));
  return { place: { kind: kind.name, directory, databaseUrl, instances: places }, instances };
}

/** @throws when one did not end as it should */
async function stopCluster({ instances, place }: SharedCluster): Promise<void> {
  for (const { child, logFile } of instances) {
    if (!hasEnded(child)) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await within('the shared service ends', hangTimeoutMs(), exited);
    }
    const how = child.exitCode ?? child.signalCode;
    if (how !== 0) throw new Error(`The shared service ended with ${how}:\n${endOf(logFile)}`);
  }
  await rm(place.directory, { recursive: true, force: true });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function endOf(file: string): string {
  return readFileSync(file, 'utf8').slice(-LAST_CHARACTERS);
}
