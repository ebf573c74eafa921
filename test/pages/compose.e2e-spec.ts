import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseEnv } from '../../src/config/env.js';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { snippetsOf } from './support/page-program.js';

interface Service {
  environment: Record<string, string>;
  networks: Record<string, { ipv4_address?: string } | null>;
}

interface Project {
  services: Record<string, Service>;
  networks: Record<
    string,
    { internal?: boolean; ipam?: { config?: { subnet: string; ip_range?: string }[] } }
  >;
}

type Variables = Record<string, string>;

const ROOT = resolve(import.meta.dirname, '../..');
const INSTANCES = ['accounts-1', 'accounts-2', 'accounts-3'];
const MIN_VERSION = [2, 24];

/** Without it, the resolver below stands in; `npm run test:image` needs it. */
const COMPOSE = [['docker', 'compose'], ['docker-compose']].find((command) => {
  const { stdout } = run([...command, 'version', '--short'], ROOT);
  const [major = 0, minor = 0] = stdout.replace(/^v/, '').split('.').map(Number);
  return major > MIN_VERSION[0]! || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]!);
});

function run([program, ...parameters]: string[], cwd: string, env: Variables = {}) {
  const { PATH = '' } = process.env;
  const { status, stdout, stderr } = spawnSync(program!, parameters, {
    cwd,
    env: { PATH, HOME: cwd, ...env },
    encoding: 'utf8',
  });
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' };
}

/** A checkout after the first command of the quick start. */
function aCheckout(more: { env?: string; accounts?: string } = {}): string {
  const directory = temporaryDirectory('compose');
  for (const file of ['compose.yaml', 'compose.mail.yaml', '.env.example'])
    copyFileSync(join(ROOT, file), join(directory, file));
  const [first] = snippetsOf('docs/quickstart-operator.md', 'sh')[0]!.split('\n');
  expect(run(['sh', '-euc', first!], directory)).toMatchObject({ status: 0, stderr: '' });
  for (const [file, text = ''] of [
    ['.env', more.env],
    ['accounts.env', more.accounts],
  ] as const)
    writeFileSync(join(directory, file), `${readFileSync(join(directory, file), 'utf8')}${text}`);
  return directory;
}

/** What the files of a checkout come to, for what this file asks: the real program answers the same below. */
function resolved(directory: string): Project {
  const env = variablesIn(readFileSync(join(directory, '.env'), 'utf8'));
  const accounts = variablesIn(readFileSync(join(directory, 'accounts.env'), 'utf8'));
  const files = (env['COMPOSE_FILE'] ?? 'compose.yaml').split(':').map((file) => {
    const text = readFileSync(join(directory, file), 'utf8');
    const filled = text.replaceAll(
      /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
      (_, name: string, kind: string, or: string) => {
        if (env[name] === undefined && kind === '?') throw new Error(`${name}: ${or}`);
        return env[name] ?? or ?? '';
      },
    );
    return parse(filled, { merge: true }) as {
      services: Record<string, { env_file?: unknown; environment?: object; networks?: string[] | object }>;
      networks?: Project['networks'];
    };
  });
  const services = INSTANCES.map((name) => {
    const parts = files.map((file) => file.services[name]!);
    expect(parts[0]!.env_file).toEqual([{ path: 'accounts.env', required: false }]);
    const environment = {
      ...accounts,
      ...Object.assign({}, ...parts.map((part) => part.environment)),
    } as object;
    const networks = parts.flatMap((part) => part.networks as string[]).map((network) => [network, null]);
    const texts = Object.entries(environment).map(([variable, value]) => [variable, String(value)]);
    return [name, { environment: Object.fromEntries(texts), networks: Object.fromEntries(networks) }];
  });
  const balancer = files[0]!.services['balancer'] as unknown as Service;
  return {
    services: { ...Object.fromEntries(services), balancer } as Project['services'],
    networks: files[0]!.networks!,
  };
}

const variablesIn = (text: string): Variables =>
  Object.fromEntries([...text.matchAll(/^([A-Z\d_]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));

const instancesOf = ({ services }: Project): Service[] => INSTANCES.map((name) => services[name]!);

const SETTINGS =
  'JWT_ISSUER=https://accounts.example.com\nREGISTRATION=closed\nMAIL_FROM=Accounts <a@example.com>\n';
const CASES = [
  ['after the quick start', {}],
  ['with settings', { accounts: `${SETTINGS}TRUST_PROXY=10.0.0.0/8\nPORT=80\n` }],
  ['in another subnet', { env: 'SUBNET_PREFIX=10.9.8\n' }],
  ['with a way out', { env: 'COMPOSE_FILE=compose.yaml:compose.mail.yaml\n' }],
] as const;

describe('compose.yaml', () => {
  it('gives each instance the settings of accounts.env, but those that other containers rely on', () => {
    const before = instancesOf(resolved(aCheckout()));
    const accounts = `${SETTINGS}TRUST_PROXY=10.0.0.0/8\nPORT=80\nMETRICS_PORT=1\n`;
    for (const [index, { environment }] of instancesOf(resolved(aCheckout({ accounts }))).entries()) {
      expect(environment).toEqual({ ...before[index]!.environment, ...variablesIn(SETTINGS) });
      expect(environment).toMatchObject({ PORT: '3000', METRICS_PORT: '9464', TRUST_PROXY: '172.30.0.10' });
    }
  });

  it('names no variable of a mail server, which an empty value would take from accounts.env', () => {
    const named = instancesOf(resolved(aCheckout())).flatMap(({ environment }) => Object.keys(environment));
    expect(new Set(named)).toEqual(
      new Set('DATABASE_URL_FILE REDIS_URL JWT_KEYS_FILE TRUST_PROXY HOST PORT METRICS_PORT'.split(' ')),
    );
  });

  it('sets variables that Accounts accepts in production', () => {
    const directory = aCheckout({ accounts: SETTINGS });
    const file = join(directory, 'database-url');
    writeFileSync(file, 'mysql://accounts:secret@database/accounts', { mode: 0o600 });
    const [{ environment }] = instancesOf(resolved(directory)) as [Service];
    const env = parseEnv({ NODE_ENV: 'production', ...environment, DATABASE_URL_FILE: file });
    expect(env).toMatchObject({ port: 3000, metricsPort: 9464, registration: 'closed' });
  });

  it('moves the network, the address of the balancer and the proxy that instances trust together', () => {
    const { services, networks } = resolved(aCheckout({ env: 'SUBNET_PREFIX=10.9.8\n' }));
    expect(networks['inside']!.ipam!.config).toEqual([{ subnet: '10.9.8.0/24', ip_range: '10.9.8.128/25' }]);
    expect(services['balancer']!.networks['inside']).toEqual({ ipv4_address: '10.9.8.10' });
    for (const { environment } of instancesOf({ services, networks }))
      expect(environment['TRUST_PROXY']).toBe('10.9.8.10');
  });

  it('lets an instance out of its network only by the second file', () => {
    const alone = resolved(aCheckout());
    expect(alone.networks['inside']).toMatchObject({ internal: true });
    for (const { networks } of instancesOf(alone)) expect(Object.keys(networks)).toEqual(['inside']);
    const { env } = CASES[3][1];
    for (const { networks } of instancesOf(resolved(aCheckout({ env }))))
      expect(Object.keys(networks)).toEqual(['inside', 'outside']);
  });

  it('takes settings and secrets from files that Git ignores and others cannot read', () => {
    const files = ['.env', 'accounts.env', 'secrets/tls.pem', 'secrets/keys/jwks.json'];
    expect(
      run(['git', 'check-ignore', ...files], ROOT)
        .stdout.trim()
        .split('\n'),
    ).toEqual(files);
    const modes = run(['stat', '--format', '%a', '.env', 'accounts.env'], aCheckout()).stdout;
    expect(modes).toBe('600\n600\n');
  });

  describe.skipIf(COMPOSE === undefined)('as Docker Compose 2.24 or later reads it', () => {
    const config = (directory: string) => run([...COMPOSE!, 'config', '--format', 'json'], directory);

    it.each(CASES)('comes to what this file expects %s', (_, more) => {
      const directory = aCheckout(more);
      const { status, stdout, stderr } = config(directory);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const project = JSON.parse(stdout) as Project;
      const expected = resolved(directory);
      expect(instancesOf(project).map(({ environment, networks }) => ({ environment, networks }))).toEqual(
        instancesOf(expected),
      );
      expect(project.services['balancer']!.networks['inside']).toEqual(
        expected.services['balancer']!.networks['inside'],
      );
      expect(project.networks['inside']!.ipam).toEqual(expected.networks['inside']!.ipam);
    });

    it('starts without accounts.env, and not without a password', () => {
      const directory = aCheckout();
      expect(run(['rm', 'accounts.env'], directory).status).toBe(0);
      expect(config(directory).status).toBe(0);
      writeFileSync(join(directory, '.env'), '');
      expect(config(directory).stderr).toContain('DB_PASSWORD');
    });
  });
});
