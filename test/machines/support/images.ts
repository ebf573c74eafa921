import { basename, join, resolve } from 'node:path';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { waitFor } from '../../../tooling/wait.js';
import { installNode, makeDebianRoot, npmSettings, run, type Running, start } from './fresh-machine.js';

const START_TIMEOUT_MS = 120_000;
const COMMAND_TIMEOUT_MS = 1_200_000;
const ENGINE_LIFETIME_MS = 7_200_000;

/** Made and removed by `test/machines/run`. */
const WORKSPACE = process.env['MACHINES_WORKSPACE']!;

const SOCKET = join(WORKSPACE, 'docker.sock');
const DOCKER_CONFIG = join(WORKSPACE, 'docker-config');
// Where docker looks for the engine and for Compose. BuildKit would need more of the engine than this one has.
Object.assign(process.env, { DOCKER_HOST: `unix://${SOCKET}`, DOCKER_CONFIG, DOCKER_BUILDKIT: '0' });

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

const CHECKOUT = resolve(import.meta.dirname, '../../..');
const RECIPES = resolve(import.meta.dirname, '../images');
const NPM = '11.21.2';

/** The committed project, as it comes out of a clone; Compose names what it makes after the directory. */
export const PROJECT = join(WORKSPACE, 'accounts');

/** The images that `Dockerfile` and `compose.yaml` start from, then the image that `Dockerfile` makes. */
export async function makeImages(): Promise<void> {
  await Promise.all([importSlim('bookworm'), importSlim('trixie', COMPOSE)]);
  await build('node', 'node:24-bookworm-slim', await nodePrefix());
  await build('haproxy', 'haproxy:3.0', RECIPES);
  await build('redis', 'redis:7', RECIPES);
  await build('mariadb', 'mariadb:10.11', join(RECIPES, 'mariadb'));
  await copyProject();
  await docker('build', '--tag', 'accounts', PROJECT);
}

/** What Debian's slim images leave out. */
const FAT = 'usr/share/{doc,info,locale,man}/* var/cache/apt/archives/*.deb var/lib/apt/lists/*';

/** Compose 2.26. Debian 12 has 1.29, which cannot read compose.yaml. */
const COMPOSE = { package: 'docker-compose', file: 'usr/libexec/docker/cli-plugins/docker-compose' };

/** @param plugin of docker, which is moved out of the image to where docker finds it */
async function importSlim(release: string, plugin?: typeof COMPOSE): Promise<void> {
  const root = join(WORKSPACE, release);
  await makeDebianRoot(root, release, plugin && [plugin.package]);
  if (plugin) {
    const plugins = join(DOCKER_CONFIG, 'cli-plugins');
    await mkdir(plugins, { recursive: true });
    await rename(join(root, plugin.file), join(plugins, plugin.package));
  }
  await run('bash', ['-c', `cd "$1" && rm -rf ${FAT}`, 'slim', root]);
  const archive = `${root}.tar`;
  await run('tar', ['--create', '--one-file-system', '--file', archive, '--directory', root, '.'], 300_000);
  await docker('import', archive, `debian:${release}-slim`);
  await rm(root, { recursive: true });
  await rm(archive);
}

function build(name: string, tag: string, context: string): Promise<string> {
  return docker('build', '--tag', tag, '--file', join(RECIPES, `${name}.Dockerfile`), context);
}

/** Node as it is pinned, and the way to this machine's registry. */
async function nodePrefix(): Promise<string> {
  const prefix = join(WORKSPACE, 'node');
  const { optionalDependencies } = JSON.parse(await readFile(join(CHECKOUT, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  await installNode(prefix, { node: optionalDependencies[`node-linux-${process.arch}`]!, npm: NPM });
  await mkdir(join(prefix, 'etc'));
  const settings = await npmSettings({
    putAt: join(prefix, 'etc/npm-ca.crt'),
    foundAt: '/usr/local/etc/npm-ca.crt',
  });
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(prefix, 'etc/npmrc'), lines.join(''));
  return prefix;
}

async function copyProject(): Promise<void> {
  await mkdir(PROJECT);
  const archive = join(WORKSPACE, 'accounts.tar');
  await run('git', ['-C', CHECKOUT, 'archive', '--output', archive, 'HEAD']);
  await run('tar', ['--extract', '--file', archive, '--directory', PROJECT]);
}
