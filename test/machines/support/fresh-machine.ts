import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Outcome, run, type Running, start } from './command.js';
import { makeDebianRoot } from './debian-root.js';
import { installNode, type Versions } from './node-and-npm.js';
import { npmSettings } from './npm-settings.js';

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
