import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.js';

const DEBOOTSTRAP_TIMEOUT_MS = 900_000;

interface Mirror {
  url: string;
  codename: string;
}

/**
 * A minimal Debian in a directory, from the mirror that this machine's apt uses.
 *
 * @param release its codename; without it that of this machine
 */
export async function makeDebianRoot(root: string, release?: string): Promise<void> {
  const { url, codename } = await aptMirror();
  const args = ['--variant=minbase', '--include=ca-certificates', release ?? codename, root, url];
  // What it mounts on the way ends with it.
  const alone = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'debootstrap'];
  await run('unshare', [...alone, ...args], DEBOOTSTRAP_TIMEOUT_MS);
  for (const file of ['/etc/hosts', '/etc/resolv.conf']) await copyFile(file, join(root, file));
}

async function aptMirror(): Promise<Mirror> {
  const format = '$(REPO_URI) $(CODENAME) $(SUITE)';
  const lines = await run('apt-get', [
    'indextargets',
    '--format',
    format,
    'Created-By: Packages',
    'Component: main',
  ]);
  for (const line of lines.split('\n')) {
    const [url = '', codename = '', suite = ''] = line.split(' ');
    if (url !== '' && !/-(updates|security|backports)$/.test(`${codename}\n${suite}`))
      return { url, codename };
  }
  throw new Error('apt names no mirror: run apt-get update');
}
