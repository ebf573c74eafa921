import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../client/src/free-port.ts';
import { waitFor } from '../../tooling/wait.js';
import { FreshMachine, type Running } from './support/fresh-machine.js';

const START_TIMEOUT_MS = 600_000;
const NODE_20 = { node: '20.20.2', npm: '10.8.2' };
/** It needs libatomic.so.1, which a minimal Debian does not have. */
const UNUSABLE_NODE = '26.10.0';

describe('a minimal Debian', () => {
  let machine: FreshMachine;

  beforeAll(async () => {
    machine = await FreshMachine.make(join(process.env['MACHINES_WORKSPACE']!, 'root'));
  });

  it('has no compiler, Python or git', async () => {
    const { output } = await machine.run('command -v cc gcc c++ make python3 git; id --user');
    expect(output.trim()).toBe('1000');
  });

  it.each([NODE_20, { node: '20.20.2', npm: '11.21.2' }, { node: '22.23.3', npm: '12.2.0' }])(
    'installs and serves with Node $node and npm $npm',
    async (tools) => {
      await machine.prepare(tools);
      const { output } = await serve('npm ci && SMTP_URL=file:./data/mails npm start');
      expect(output).not.toMatch(/warn|deprecated|gyp/i);
    },
  );

  it('passes the unit tests and a test over HTTP', async () => {
    await machine.prepare(NODE_20);
    const tests = 'npx vitest run --project unit --project sqlite --testTimeout 120000 src test/orgs';
    const { code, output } = await machine.run(`npm ci && npm run build && ${tests}`);
    expect(code, output).toBe(0);
    expect(output).toMatch(/\n[1-9]\d* passed, 0 failed/);
  });

  it('says in one line what to install when the pinned Node cannot run', async () => {
    await machine.prepare(NODE_20);
    await pinUnusableNode();
    const installed = await machine.run('npm ci');
    const started = await machine.run('npm start');
    expect(installed.code, installed.output).toBe(0);
    expect(installed.output).toMatch(/^Install Node 24\.16 or newer .* 20\.20\.2, .*libatomic.*$/m);
    expect(installed.output).not.toMatch(/npm error/);
    expect(started.code).toBe(1);
    expect(started.output).toMatch(/^Node 24\.16 or newer is needed .* 20\.20\.2: install it/m);
  });

  it('serves with the Node of the system, the oldest that is supported', async () => {
    await machine.prepare({ node: '24.16.0', npm: '10.8.2' });
    await pinUnusableNode();
    const { output } = await serve('npm ci && npm start');
    expect(output).toMatch(/^Using this machine's Node 24\.16\.0: the pinned one cannot run here/m);
  });

  /** Runs the command until the service is ready and takes an account, as seen from outside. */
  async function serve(command: string): Promise<{ output: string }> {
    const port = await freePort();
    const running = machine.start(command, { PORT: String(port) });
    try {
      await waitUntilReady(running, `http://127.0.0.1:${port}`);
      return { output: running.output() };
    } finally {
      running.signal('SIGKILL');
      await running.ended;
    }
  }

  async function waitUntilReady(running: Running, url: string): Promise<void> {
    let ended = false;
    void running.ended.then(() => (ended = true));
    const status = await waitFor('the service', START_TIMEOUT_MS, async () =>
      ended ? 'ended' : (await fetch(`${url}/health/ready`)).status,
    );
    expect(status, running.output()).toBe(200);
    const registered = await fetch(`${url}/api/auth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.com', password: 'correct horse battery' }),
    });
    expect(registered.status, running.output()).toBe(201);
  }

  async function pinUnusableNode(): Promise<void> {
    const name = `node-${process.platform}-${process.arch}`;
    const pin = `npm pkg set optionalDependencies.${name}=${UNUSABLE_NODE} && npm install --package-lock-only`;
    const { code, output } = await machine.run(pin);
    expect(code, output).toBe(0);
  }
});
