import { fstatSync, openSync, readSync } from 'node:fs';
import { inject } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Caller } from './caller.js';
import { anInstallation, aSharedInstallation, type Installation, installationAt } from './installation.js';
import type { SharedPlace, SharedRequest } from './shared-services.js';
import { residentMib } from '../../tooling/processes/usage.js';
import { instancesInARace } from './engine.js';
import { runService } from './service-hosts.js';
import { type Environment, exitCode, untilListening } from './service-process.js';

function linesWrittenTo(file: string): () => string[] {
  const descriptor = openSync(file, 'r');
  let position = fstatSync(descriptor).size;
  let partial = '';
  const complete: string[] = [];
  return () => {
    const bytes = Buffer.alloc(fstatSync(descriptor).size - position);
    position += readSync(descriptor, bytes, 0, bytes.length, position);
    const lines = (partial + bytes.toString('latin1')).split('\n');
    partial = lines.pop()!;
    complete.push(...lines.map((line) => Buffer.from(line, 'latin1').toString()));
    return complete;
  };
}

async function askForShared(
  what: 'take' | 'start' | 'give-back',
  body: object,
): Promise<SharedPlace | undefined> {
  const response = await fetch(`${inject('sharedServices')}/${what}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(text);
  return JSON.parse(text) as SharedPlace;
}

/** It continues for other files, if this one left it healthy. */
async function checkHealthy(service: Service): Promise<void> {
  const { anyone, installation } = service;
  const ready = await anyone.get('/health/ready');
  if (ready.status !== 200) throw new Error(`The shared service is no longer ready: ${ready.text}`);

  const last = await anyone.get<{ requestId: string }>('/last-request');
  await waitFor('the last request is in the log', hangTimeoutMs(), () =>
    service.logs.some((line) => line.includes(last.body.requestId)),
  );
  installation.secrets.checkAbsentFrom(service.logs);
}

export interface Service {
  url: string;
  /** every line that the process has written */
  logs: string[];
  installation: Installation;
  db: Installation['db'];
  anyone: Caller;
  /**
   * Ends the process gracefully, unless other files use it, and checks that it was healthy and logged no
   * secrets.
   */
  stop(): Promise<void>;
}

export interface Instance extends Service {
  memoryMiB(): number;
  pid: number;
  kill(): Promise<void>;
}

/** A process of the service that need not listen yet. */
interface StartOptions {
  env?: Environment;
  /** to share or to restart; without it the service gets one of its own, removed when it stops */
  installation?: Installation;
}

/** Each limit that is on by default, off: several processes without Redis need that. */
export const NO_LIMITS = {
  RATE_LIMIT_REGISTER: 'off',
  RATE_LIMIT_LOGIN: 'off',
  RATE_LIMIT_LOOKUP: 'off',
  RATE_LIMIT_PROVIDER: 'off',
  RATE_LIMIT_FORGOT: 'off',
  RATE_LIMIT_CODE: 'off',
  RATE_LIMIT_EXPORT: 'off',
};

/**
 * Without options this is a shared service without limits of registrations, logins and additions, behind a proxy that it
 * trusts. One file at a time uses it, and its database contains rows of other files. It stops when the file ends.
 */
export async function startService(options?: StartOptions): Promise<Service> {
  if (options) return startOwnService(options);
  const { instances } = await takeCluster({ instances: 1 });
  return instances[0]!;
}

/** For races: the same on as many instances as the database may have. */
export function startSharedCluster(): Promise<Cluster> {
  return takeCluster({ instances: instancesInARace });
}

/** For files that damage the data of the service, or need to know all of them. */
export async function startOwnService({ installation, env }: StartOptions = {}): Promise<Instance> {
  if (installation) return launch(installation, env).listening;
  const own = await anInstallation();
  const service = await launch(own, env).listening;
  const stop = async (): Promise<void> => {
    try {
      await service.stop();
    } finally {
      await own.remove();
    }
  };
  return { ...service, stop };
}

export function launch(installation: Installation, env: Environment = {}) {
  const process = runService(installation.directory, { ...installation.env, ...env });
  const { child, logs, exited } = process;
  const kill = async (): Promise<void> => {
    process.kill('SIGKILL');
    await exited;
  };
  const stop = async (): Promise<void> => {
    // After SIGTERM, an instance behind a proxy serves on for seconds.
    process.kill('SIGINT');
    const code = await exitCode(process);
    if (code !== 0) throw new Error(`The service ended with ${code}:\n${logs.slice(-20).join('\n')}`);
    installation.secrets.checkAbsentFrom(logs);
  };
  const memoryMiB = (): number => residentMib([child.pid!]) ?? Number.NaN;
  const listening: Promise<Instance> = untilListening(process).then((url) => ({
    ...serviceAt(url, installation),
    logs,
    memoryMiB,
    pid: child.pid!,
    kill,
    stop,
  }));
  return { logs, listening, kill };
}

/** Shared services that this file uses. */
const inUse = new Set<() => Promise<void>>();

/** Stops those that the file has not stopped itself. */
export async function stopSharedServices(): Promise<void> {
  await Promise.all([...inUse].map((stop) => stop()));
}

/** Shared instances as one file sees them: `logs` and secrets begin with this call, and `stop` of any ends it for all. */
async function takeCluster(request: SharedRequest): Promise<Cluster> {
  const place =
    (await askForShared('take', request)) ??
    (await askForShared('start', { ...request, installation: await aSharedInstallation() }))!;
  const installation = await installationAt(place);
  const stop = async (): Promise<void> => {
    if (!inUse.delete(stop)) return;
    await Promise.all(instances.map(checkHealthy));
    await askForShared('give-back', place);
  };
  inUse.add(stop);
  const instances = place.instances.map(({ url, logFile }) =>
    sharedInstance(serviceAt(url, installation), linesWrittenTo(logFile), stop),
  );
  return { instances, installation, db: installation.db, stop };
}

function sharedInstance(at: Located, lines: () => string[], stop: Service['stop']): Service {
  return {
    ...at,
    get logs() {
      return lines();
    },
    stop,
  };
}

type Located = Omit<Service, 'logs' | 'stop'>;

function serviceAt(url: string, installation: Installation): Located {
  const anyone = new Caller({ url, secrets: installation.secrets });
  return { url, installation, db: installation.db, anyone };
}

export interface Cluster extends Pick<Service, 'installation' | 'db' | 'stop'> {
  instances: Service[];
}

export async function startCluster(
  size: number,
  options: { env?: Environment; envs?: Environment[]; mariadbPort?: number } = {},
): Promise<Cluster> {
  const installation = await anInstallation(options);
  const envs = Array.from({ length: size }, (_, index) => ({ ...options.env, ...options.envs?.[index] }));
  const instances = await Promise.all(envs.map((env) => launch(installation, env).listening));
  const stop = async (): Promise<void> => {
    await Promise.all(instances.map((instance) => instance.stop()));
    await installation.remove();
  };
  return { instances, installation, db: installation.db, stop };
}
