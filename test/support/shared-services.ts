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

/** Without limits of registrations, logins and additions, behind a proxy that it trusts. */
const ENV = {
  RATE_LIMIT_REGISTER: 'off',
  RATE_LIMIT_LOGIN: 'off',
  RATE_LIMIT_LOOKUP: 'off',
  RATE_LIMIT_PROVIDER: 'off',
  TRUST_PROXY: '127.0.0.1',
};

/** What a file asks for. */
export interface SharedRequest {
  instances: number;
}

interface InstancePlace {
  url: string;
  /** both outputs of the process, those caused by other files included */
  logFile: string;
}

export interface SharedPlace extends InstallationPlace {
  instances: InstancePlace[];
}

interface SharedCluster {
  installation: InstallationPlace;
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

  const routes: Record<
    string,
    (body: unknown) => SharedPlace | undefined | Promise<SharedPlace | undefined>
  > = {
    '/take': async (body) => {
      const { instances } = body as SharedRequest;
      const bySize = [...free].toSorted((one, other) => one.instances.length - other.instances.length);
      const found = bySize.find((cluster) => cluster.instances.length >= instances) ?? bySize.at(-1);
      if (!found) return undefined;
      free.delete(found);
      if (found.instances.some(({ child }) => hasEnded(child))) return undefined;
      await grow(found, instances);
      return placeOf(found, instances);
    },
    '/start': async (body) => {
      const { instances, installation } = body as SharedRequest & { installation: InstallationPlace };
      const cluster: SharedCluster = { installation, instances: [] };
      all.set(installation.directory, cluster);
      await grow(cluster, instances);
      return placeOf(cluster, instances);
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

/** Starts further instances only once a file needs as many. */
async function grow({ installation, instances }: SharedCluster, size: number): Promise<void> {
  const { directory, databaseUrl } = installation;
  const env = {
    ...COMPILE_CACHE,
    DATABASE_URL: databaseUrl,
    JWT_KEYS_FILE: keysFileIn(directory),
    ...ENV,
  };
  const indexes = Array.from({ length: size }, (_, index) => index).slice(instances.length);
  const started = await Promise.all(
    indexes.map(async (index) => {
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
  instances.push(...started);
}

const placeOf = ({ installation, instances }: SharedCluster, size: number): SharedPlace => ({
  ...installation,
  instances: instances.slice(0, size).map(({ url, logFile }) => ({ url, logFile })),
});

/** @throws when one did not end as it should */
async function stopCluster({ instances, installation }: SharedCluster): Promise<void> {
  for (const { child, logFile } of instances) {
    if (!hasEnded(child)) {
      const exited = once(child, 'exit');
      child.kill('SIGINT');
      await within('the shared service ends', hangTimeoutMs(), exited);
    }
    const how = child.exitCode ?? child.signalCode;
    if (how !== 0) throw new Error(`The shared service ended with ${how}:\n${endOf(logFile)}`);
  }
  await rm(installation.directory, { recursive: true, force: true });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function endOf(file: string): string {
  return readFileSync(file, 'utf8').slice(-LAST_CHARACTERS);
}
