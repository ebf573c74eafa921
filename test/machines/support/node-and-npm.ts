import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.js';

const DOWNLOAD_TIMEOUT_MS = 600_000;

export interface Versions {
  node: string;
  npm: string;
}

/** Node and npm below `prefix`, in the places where Node's own archive has them. */
export async function installNode(prefix: string, { node, npm }: Versions): Promise<void> {
  const bin = join(prefix, 'bin');
  await rm(prefix, { recursive: true, force: true });
  await unpack(`node-${process.platform}-${process.arch}@${node}`, prefix);
  await unpack(`npm@${npm}`, join(prefix, 'lib/node_modules/npm'));
  for (const name of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(bin, name));
    await run('chmod', ['+x', join(bin, name)]);
  }
}

/** A package of the registry as it is: nothing is installed, no script runs. */
async function unpack(spec: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const pack = ['pack', spec, '--silent', '--pack-destination', directory];
  const file = (await run('npm', pack, DOWNLOAD_TIMEOUT_MS)).split('\n').at(-1)!;
  const archive = join(directory, file);
  await run('tar', ['--extract', '--file', archive, '--directory', directory, '--strip-components=1']);
  await rm(archive);
}
