import { spawn } from 'node:child_process';
import { copyFile, mkdir, rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';

interface Outcome {
  code: number | null;
  /** both outputs, as they came */
  output: string;
}

export interface Running {
  /** what it has written so far */
  output(): string;
  ended: Promise<Outcome>;
  signal(name: NodeJS.Signals): void;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** Ends with this process, however that ends, and after `timeoutMs` at the latest. */
export function start(program: string, args: string[], timeoutMs: number): Running {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    output: () => output,
    ended: new Promise((done, failed) => {
      child.once('error', failed);
      child.once('close', (code) => done({ code, output }));
    }),
    signal: (name) => child.kill(name),
  };
}

export async function run(
  program: string,
  args: string[],
  timeoutMs: number = DEFAULT_TIMEOUT_MS,
): Promise<string> {
  const { code, output } = await start(program, args, timeoutMs).ended;
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
  return output.trim();
}

const NAMES = ['registry', 'cafile', 'proxy', 'https-proxy', 'noproxy'];

/**
 * How this machine's npm reaches its registry, for an npm on another machine.
 *
 * @param ca where to put the certificates, if there are any, and where that npm finds them
 */
export async function npmSettings(ca: { putAt: string; foundAt: string }): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const name of NAMES) {
    const value = await run('npm', ['config', 'get', name, '--loglevel=error']);
    if (value !== '' && value !== 'null') settings[name] = value;
  }
  if (settings['cafile'] !== undefined) {
    await copyFile(settings['cafile'], ca.putAt);
    settings['cafile'] = ca.foundAt;
  }
  return settings;
}

const DOWNLOAD_TIMEOUT_MS = 600_000;

interface Versions {
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
  const archive = join(directory, (await run('npm', pack, DOWNLOAD_TIMEOUT_MS)).split('\n').at(-1)!);
  await run('tar', ['--extract', '--file', archive, '--directory', directory, '--strip-components=1']);
  await rm(archive);
}

const DEBOOTSTRAP_TIMEOUT_MS = 900_000;

interface Mirror {
  url: string;
  codename: string;
}

/**
 * A minimal Debian in a directory, from the mirror that this machine's apt uses.
 *
 * @param release its codename; without it that of this machine
 * @param packages what it has in addition to the minimum
 */
export async function makeDebianRoot(root: string, release?: string, packages: string[] = []): Promise<void> {
  const { url, codename } = await aptMirror();
  const include = `--include=${['ca-certificates', ...packages].join(',')}`;
  const args = ['--variant=minbase', include, release ?? codename, root, url];
  // What it mounts on the way ends with it.
  const alone = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'debootstrap'];
  await run('unshare', [...alone, ...args], DEBOOTSTRAP_TIMEOUT_MS);
  for (const file of ['/etc/hosts', '/etc/resolv.conf']) await copyFile(file, join(root, file));
}

async function aptMirror(): Promise<Mirror> {
  const lines = await run('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI) $(CODENAME) $(SUITE)',
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

const CHECKOUT = resolve(import.meta.dirname, '../../..');
const PROJECT = '/home/dev/accounts';
const PREFIX = '/opt/node';
const CA_FILE = '/etc/ssl/npm-ca.crt';
const USER = '1000:1000';
const COMMAND_TIMEOUT_MS = 900_000;
/** In namespaces of its own: its processes and mounts end with it. */
const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child'];
// No exec: the shell stays, as root, since a process that changes its user outlives what `--kill-child` kills.
const ENTER = `
  root=$1; shift
  mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" && chroot --userspec=${USER} "$root" "$@"
  exit $?
`;

/** A minimal Debian where an ordinary user has one Node and one npm; it shares this machine's network. */
export class FreshMachine {
  private readonly root: string;
  private readonly environment: Record<string, string>;

  private constructor(root: string, environment: Record<string, string>) {
    this.root = root;
    this.environment = environment;
  }

  static async make(root: string): Promise<FreshMachine> {
    await makeDebianRoot(root);
    await mkdir(join(root, PROJECT), { recursive: true });
    await run('chown', ['--recursive', USER, join(root, 'home/dev')]);
    const settings = Object.entries(await npmSettings({ putAt: join(root, CA_FILE), foundAt: CA_FILE }));
    return new FreshMachine(root, {
      HOME: '/home/dev',
      PATH: `${PREFIX}/bin:/usr/bin:/bin`,
      ...Object.fromEntries(settings.map(([name, value]) => [`npm_config_${name.replace('-', '_')}`, value])),
    });
  }

  /** The machine's own Node and npm, and the committed project as it comes out of a clone. */
  async prepare(versions: Versions): Promise<void> {
    await installNode(join(this.root, PREFIX), versions);
    const directory = join(this.root, PROJECT);
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory);
    const archive = join(this.root, 'home/dev/accounts.tar');
    await run('git', ['-C', CHECKOUT, 'archive', '--output', archive, 'HEAD']);
    await run('tar', ['--extract', '--file', archive, '--directory', directory]);
    await run('chown', ['--recursive', USER, directory]);
  }

  /** What a shell in the project does with this line. */
  start(line: string, env: Record<string, string> = {}): Running {
    const variables = Object.entries({ ...this.environment, ...env });
    const environment = variables.map(([name, value]) => `${name}=${value}`);
    const shell = ['env', '--ignore-environment', '--chdir', PROJECT, ...environment, 'sh', '-c', line];
    const enter = ['sh', '-c', ENTER, 'enter', this.root, ...shell];
    return start('unshare', [...NAMESPACES, ...enter], COMMAND_TIMEOUT_MS);
  }

  run(line: string, env: Record<string, string> = {}): Promise<Outcome> {
    return this.start(line, env).ended;
  }
}
