import type { Installation } from '../../support/installation.js';
import { type Instance, startOwnService } from '../../support/service.js';
import type { Environment } from '../../support/service-process.js';

export function startInstance(installation: Installation, env: Environment = {}): Promise<Instance> {
  return startOwnService({ installation, env });
}

/** One instance for each of the environments, started at the same moment. */
export function startInstances(installation: Installation, envs: Environment[]): Promise<Instance[]> {
  return Promise.all(envs.map((env) => startInstance(installation, env)));
}

export async function stopAll(instances: readonly Instance[]): Promise<void> {
  await Promise.all(instances.map((instance) => instance.stop()));
}

/** The same database on the way through another port. */
export function through(port: number, installation: Installation): Record<string, string> {
  return { DATABASE_URL: hostsUrl(installation, [port]) };
}

/** The same database, by several ports of this machine, the preferred one first. */
export function hostsUrl({ db }: Installation, ports: readonly number[]): string {
  const name = new URL(db.url).pathname;
  return `mysql://root@${ports.map((port) => `127.0.0.1:${port}`).join(',')}${name}`;
}
