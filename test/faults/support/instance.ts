import { readFileSync } from 'node:fs';
import { Caller } from '../../support/caller.js';
import { contractOf } from '../../support/contract.js';
import type { Installation } from '../../support/installation.js';
import type { Service } from '../../support/service.js';
import { type Environment, exitCode, spawnService, untilListening } from '../../support/service-process.js';

/** A service that can also be ended without asking it, and measured. */
export interface Instance extends Service {
  pid: number;
  memoryMiB(): number;
  /** SIGKILL */
  kill(): Promise<void>;
}

/** A process of the service that need not listen yet. */
export interface Launched {
  logs: string[];
  listening: Promise<Instance>;
  kill(): Promise<void>;
}

export function launch(installation: Installation, env: Environment = {}): Launched {
  const process = spawnService(installation.directory, { ...installation.env, ...env });
  const kill = async (): Promise<void> => {
    process.child.kill('SIGKILL');
    await process.exited;
  };
  const listening = async (): Promise<Instance> => {
    const url = await untilListening(process);
    const contract = contractOf(url);
    const pid = process.child.pid ?? 0;
    return {
      url,
      logs: process.logs,
      installation,
      db: installation.db,
      contract,
      anyone: new Caller({ url, contract, secrets: installation.secrets }),
      pid,
      memoryMiB: () => memoryOf(pid),
      kill,
      stop: async () => {
        process.child.kill('SIGTERM');
        const code = await exitCode(process);
        if (code !== 0)
          throw new Error(`The service ended with ${code}:\n${process.logs.slice(-20).join('\n')}`);
        const leaks = installation.secrets.leaksIn(kindsOf(process.logs));
        if (leaks.length > 0) throw new Error(`The logs hold secrets: ${leaks.join(' | ')}`);
      },
    };
  };
  return { logs: process.logs, listening: listening(), kill };
}

export function startInstance(installation: Installation, env: Environment = {}): Promise<Instance> {
  return launch(installation, env).listening;
}

/** One instance for each of the environments, started at the same moment. */
export function startInstances(installation: Installation, envs: Environment[]): Promise<Instance[]> {
  return Promise.all(envs.map((env) => startInstance(installation, env)));
}

export async function stopAll(instances: readonly Instance[]): Promise<void> {
  await Promise.all(instances.map((instance) => instance.stop()));
}

/** The same database on the way through another port. */
export function through(port: number, installation: Installation): Environment {
  return { DATABASE_URL: hostsUrl(installation, [port]) };
}

/** The same database, by several ports of this machine, the preferred one first. */
export function hostsUrl({ db }: Installation, ports: readonly number[]): string {
  const name = new URL(db.url).pathname;
  return `mysql://root@${ports.map((port) => `127.0.0.1:${port}`).join(',')}${name}`;
}

const ALWAYS_NEW = /"(?:time|ms|requestId|orgId|memberId|userId)":(?:"[^"]*"|[\d.]+)/g;

/** The lines that differ in more than when and about whom: a load writes very many, and there are many secrets. */
function kindsOf(logs: readonly string[]): string[] {
  return [...new Set(logs.map((line) => line.replaceAll(ALWAYS_NEW, '')))];
}

function memoryOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}
