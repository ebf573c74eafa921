import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../tooling/wait.js';
import { docker } from './support/images.js';

const CHECKOUT = resolve(import.meta.dirname, '../..');
const RECIPES = join(import.meta.dirname, 'images');
const BOOT_TIMEOUT_MS = 120_000;
/** What a systemd in a container needs. */
const MACHINE =
  '--cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined ' +
  '--tmpfs /run --tmpfs /run/lock --tmpfs /tmp --volume /sys/fs/cgroup:/sys/fs/cgroup';

describe('deploy/accounts.service', () => {
  beforeAll(async () => {
    await docker('build', '--tag', 'systemd', '--file', join(RECIPES, 'systemd.Dockerfile'), RECIPES);
    const project = ['--volume', `${CHECKOUT}:/opt/accounts:ro`];
    await docker('run', '--detach', '--name', 'machine', ...MACHINE.split(' '), ...project, 'systemd');
    await waitFor('systemd', BOOT_TIMEOUT_MS, () => inMachine('systemctl is-system-running'));
    await inMachine(await documentedCommands('Install the service'));
    await untilReady();
  });
  afterAll(() => docker('rm', '--force', 'machine'));

  it('passes systemd-analyze verify', async () => {
    expect(await inMachine('systemd-analyze verify accounts.service 2>&1')).toBe('');
  });

  it('runs as a user of its own, without capabilities or privilege escalation', async () => {
    const status = await inMachine(`cat /proc/${await property('MainPID')}/status`);
    expect(status).toMatch(/^Uid:\t[1-9]\d*\t/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
  });

  it('hides its data from other users', async () => {
    const modes = await inMachine("stat --format '%a %U' /var/lib/accounts /var/lib/accounts/*");
    expect(modes.split('\n')).toEqual([
      '700 accounts',
      ...Array<string>(modes.split('\n').length - 1).fill('600 accounts'),
    ]);
  });

  it('keeps its compiled code where no other user can write', async () => {
    await inMachine('systemctl restart accounts');
    await untilReady();
    const places = await inMachine("stat --format '%a %U' /var/cache/accounts /var/cache/accounts/*");
    expect(places).toBe('700 accounts\n700 accounts');
  });

  it('restarts when it is killed', async () => {
    await inMachine(`kill -9 ${await property('MainPID')}`);
    await waitFor('a restart', BOOT_TIMEOUT_MS, async () => (await property('NRestarts')) !== '0');
    expect(await untilReady()).toBe('ready');
  });

  it('stops gracefully', async () => {
    await inMachine('systemctl stop accounts');
    expect(await property('Result')).toBe('success');
    expect(await property('ExecMainStatus')).toBe('0');
  });

  it('copies the audit log by accounts-events.service, which ends for good where a restart would not help', async () => {
    await inMachine('install -m 0644 /opt/accounts/deploy/accounts-events.service /etc/systemd/system/');
    await inMachine('systemctl daemon-reload && systemctl start accounts accounts-events');
    expect(await inMachine('systemd-analyze verify accounts-events.service 2>&1')).toBe('');
    const file = '/var/lib/accounts-events/events.jsonl';
    await waitFor('the copy', BOOT_TIMEOUT_MS, () => inMachine(`stat --format '%a %U' ${file}`));
    expect(await inMachine(`stat --format '%a %U' ${file}`)).toBe('600 accounts');
    await inMachine('systemctl stop accounts-events');
    expect(await property('ExecMainStatus', 'accounts-events')).toBe('0');

    const id = '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f';
    const fields = ['orgId', 'orgRevision', 'userId', 'userRevision', 'sessionId', 'requestId', 'reason'];
    const lost = {
      ...Object.fromEntries(fields.map((field) => [field, null])),
      id,
      type: 'account.disabled',
      at: new Date().toISOString(),
      data: {},
      actor: { type: 'system', id: null, sessionId: null, email: null },
    };
    await inMachine(`echo '${JSON.stringify(lost)}' >${file}; systemctl start accounts-events`);
    await waitFor('its end', BOOT_TIMEOUT_MS, async () =>
      (await property('ActiveState', 'accounts-events')) === 'failed' ? 'failed' : undefined,
    );
    expect(['1', '3']).toContain(await property('ExecMainStatus', 'accounts-events'));
    expect(await property('NRestarts', 'accounts-events')).toBe('0');
  });

  it('starts an instance of its own for each port from the template', async () => {
    const settings = 'DATABASE_URL=sqlite:/var/lib/accounts/accounts.sqlite\nMETRICS_PORT=9464\n';
    // One process alone can use SQLite.
    await inMachine('systemctl stop accounts');
    await inMachine(`printf '${settings}' >/etc/accounts.env`);
    const commands = await documentedCommands('Several instances on one machine');
    await inMachine(commands.replace(' accounts@2', ''));
    expect(await inMachine('systemd-analyze verify accounts@1.service 2>&1')).toBe('');
    expect(await untilReady(3001)).toBe('ready');
    const { node, metrics } = {
      node: '/opt/accounts/node_modules/.bin/node',
      metrics: "fetch('http://127.0.0.1:9461/metrics').then((r) => process.exit(r.ok ? 0 : 1))",
    };
    await inMachine(`${node} --eval "${metrics}"`);
  });

  function inMachine(script: string): Promise<string> {
    return docker('exec', 'machine', 'sh', '-e', '-c', script);
  }

  function property(name: string, unit = 'accounts'): Promise<string> {
    return inMachine(`systemctl show --property ${name} --value ${unit}`);
  }

  async function untilReady(port = 3000): Promise<string> {
    const check = `fetch('http://127.0.0.1:${port}/health/ready').then((r) => process.exit(r.ok ? 0 : 1))`;
    return waitFor('the service', BOOT_TIMEOUT_MS, () =>
      inMachine(`/opt/accounts/node_modules/.bin/node --eval "${check}" && echo ready`),
    );
  }
});

/** How a section of docs/deploy-systemd.md installs it. */
async function documentedCommands(section: string): Promise<string> {
  const text = await readFile(join(CHECKOUT, 'docs/deploy-systemd.md'), 'utf8');
  return new RegExp(`## ${section}[^]*?\`\`\`sh\\n([^]*?)\`\`\``).exec(text)![1]!;
}
