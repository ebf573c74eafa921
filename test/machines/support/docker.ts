import { basename, join } from 'node:path';
import { waitFor } from '../../../tooling/wait.js';
import { run, type Running, start } from './command.js';

const START_TIMEOUT_MS = 120_000;
const COMMAND_TIMEOUT_MS = 1_200_000;
const ENGINE_LIFETIME_MS = 7_200_000;

/** Made and removed by `test/machines/run`. */
export const WORKSPACE = process.env['MACHINES_WORKSPACE']!;

const SOCKET = join(WORKSPACE, 'docker.sock');
// Where docker and docker-compose look for the engine.
process.env['DOCKER_HOST'] = `unix://${SOCKET}`;

/** A Docker engine beside the one that this machine may have. */
export async function startEngine(): Promise<Running> {
  const options = {
    'data-root': join(WORKSPACE, 'docker'),
    'exec-root': join(WORKSPACE, 'docker-exec'),
    pidfile: join(WORKSPACE, 'docker.pid'),
    host: `unix://${SOCKET}`,
    containerd: '',
    'cgroup-parent': `/${basename(WORKSPACE)}`,
    'exec-opt': 'native.cgroupdriver=cgroupfs',
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const engine = start('dockerd', args, ENGINE_LIFETIME_MS);
  await waitFor('the Docker engine', START_TIMEOUT_MS, () => docker('version')).catch((error: unknown) => {
    throw new Error(engine.output(), { cause: error });
  });
  return engine;
}

export function docker(...args: string[]): Promise<string> {
  return run('docker', args, COMMAND_TIMEOUT_MS);
}

/** What `docker inspect` says, by a template of Go. */
export function inspect(container: string, template: string): Promise<string> {
  return docker('inspect', '--format', `{{${template}}}`, container);
}
