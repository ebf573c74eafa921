import { Caller } from './caller.js';
import { type Contract, contractOf } from './contract.js';
import { anInstallation, type Installation } from './installation.js';
import { sharedService } from './shared-service.js';
import { type Environment, exitCode, spawnService, untilListening } from './service-process.js';

export interface Service {
  url: string;
  /** every line that the process has written */
  logs: string[];
  installation: Installation;
  db: Installation['db'];
  contract: Contract;
  /** a client without a token */
  anyone: Caller;
  /** Ends the process politely, unless other files use it too, and checks that it is well and kept its secrets. */
  stop(): Promise<void>;
}

interface StartOptions {
  env?: Environment;
  /** to share or to restart; without it the service gets one of its own, removed when it stops */
  installation?: Installation;
}

/**
 * Without options this is a running service of the default configuration that other files use too, one file at a
 * time: its database holds their rows.
 */
export function startService(options?: StartOptions): Promise<Service> {
  return options ? startOwnService(options) : sharedService();
}

/** For a file that damages its service's data, or needs to know all of it. */
export async function startOwnService(options: StartOptions = {}): Promise<Service> {
  const installation = options.installation ?? (await anInstallation());
  const process = spawnService(installation.directory, { ...installation.env, ...options.env });
  const url = await untilListening(process);
  const contract = contractOf(url);
  const service: Service = {
    url,
    logs: process.logs,
    installation,
    db: installation.db,
    contract,
    anyone: new Caller({ url, contract, secrets: installation.secrets }),
    stop: async () => {
      process.child.kill('SIGTERM');
      const code = await exitCode(process);
      if (!options.installation) await installation.remove();
      if (code !== 0)
        throw new Error(`The service ended with ${code}:\n${process.logs.slice(-20).join('\n')}`);
      installation.secrets.checkAbsentFrom(process.logs);
    },
  };
  return service;
}

export interface Cluster {
  instances: Service[];
  installation: Installation;
  db: Installation['db'];
  stop(): Promise<void>;
}

/** Several processes of the service on one database, all started at the same moment. */
export async function startCluster(
  size: number,
  options: { env?: Environment; mariadbPort?: number } = {},
): Promise<Cluster> {
  const installation = await anInstallation(options);
  const instances = await Promise.all(
    Array.from({ length: size }, () => startOwnService({ env: options.env ?? {}, installation })),
  );
  return {
    instances,
    installation,
    db: installation.db,
    stop: async () => {
      await Promise.all(instances.map((instance) => instance.stop()));
      await installation.remove();
    },
  };
}
