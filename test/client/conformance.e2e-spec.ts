import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readScripts } from '../../client/src/conformance/report.ts';
import { waitFor } from '../../tooling/wait.js';

const MAIN = resolve('client/src/guard/main.ts');
const folder = mkdtempSync(join(tmpdir(), 'accounts-conformance-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function conformance(...args: string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, [MAIN, 'conformance', ...args], (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

function written(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

it('our guard passes all scripts', async () => {
  const { code, stdout, stderr } = await conformance('--json', '--', process.execPath, MAIN);
  const outcomes = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; passed: boolean });
  expect(outcomes.filter(({ passed }) => !passed)).toEqual([]);
  expect(outcomes.map(({ id }) => id).toSorted()).toEqual(
    readScripts()
      .map(({ id }) => id)
      .toSorted(),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

it('a program that admits every request fails, also by its headers', async () => {
  const program = written(
    'admits.mjs',
    `import { createServer } from 'node:http';
const server = createServer((_, response) => response.setHeader('X-Accounts-User', 'eve').end());
server.listen(Number(process.env.GUARD_LISTEN.split(':')[1]), '127.0.0.1');`,
  );
  const ids = 'headers-of-client,alg-none,introspected-once';
  const { code, stdout } = await conformance('--only', ids, '--json', '--', process.execPath, program);
  const outcomes = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string });
  expect(code).toBe(1);
  expect(outcomes.toSorted((one, other) => one.id.localeCompare(other.id))).toEqual([
    { id: 'alg-none', rule: 'T1', passed: false, step: 2, answer: '200', expected: '401 invalid_token' },
    {
      id: 'headers-of-client',
      rule: 'D9',
      passed: false,
      step: 1,
      answer: '200, X-Accounts-User: eve',
      expected: expect.stringMatching(/^X-Accounts-User: [0-9a-f-]{36}$/) as string,
    },
    { id: 'introspected-once', rule: 'S1', passed: true },
  ]);
});

it('lists the scripts with their rules and reasons', async () => {
  const { code, stdout } = await conformance('--list', '--only', 'member-removed,own-change');
  expect({ code, lines: stdout.trim().split('\n') }).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(/^M2 +member-removed +A removed member keeps access\.$/) as string,
      expect.stringMatching(/^R1 +own-change +A client/) as string,
    ],
  });
});

describe('wrong usage ends with 2', () => {
  it.each<[string, string[], string]>([
    ['no COMMAND', [], 'Usage: accounts-guard conformance'],
    ['an unknown flag', ['--fast', '--', 'true'], "Unknown option '--fast'"],
    ['an unknown script', ['--only', 'nothing', '--', 'true'], 'no script has the id "nothing"'],
    ['a folder that is missing', ['--scripts', '/nowhere', '--', 'true'], '/nowhere'],
    [
      'a program that does not exist',
      ['--only', 'restart', '--', '/nowhere'],
      'COMMAND never answered: COMMAND cannot be started',
    ],
    ['a program that ends', ['--', 'sh', '-c', 'echo no luck; exit 3'], 'COMMAND ended with 3: no luck'],
  ])('%s', async (_what, args, message) => {
    const { code, stderr } = await conformance(...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) as string });
  });

  it.each([
    ['that is no JSON', '{', 'odd.json'],
    ['of another version', '{ "version": 2 }', 'version must be 1'],
    [
      'with an unknown step',
      '{ "version": 1, "id": "x", "rule": "X", "why": "Y.", "steps": [{ "read": true }, { "sleep": 1 }] }',
      'odd.json: script "x", step 2: is of no known kind: sleep',
    ],
  ])('a script %s', async (_what, text, message) => {
    written('odd.json', text);
    const { code, stderr } = await conformance('--scripts', folder, '--', 'true');
    rmSync(join(folder, 'odd.json'));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) as string });
  });
});

describe('a program that hangs', () => {
  const only = ['--only', 'token-valid', '--'];
  const isGone = (pid: number): boolean =>
    !existsSync(`/proc/${pid}`) || / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

  async function requireGone(...files: string[]): Promise<void> {
    const pids = files.map((file) => Number(readFileSync(file, 'utf8')));
    await waitFor('all processes are gone', 10_000, () => pids.every(isGone));
  }

  it('and never listens fails, and leaves no process behind', async () => {
    const [child, parent] = [join(folder, 'child'), join(folder, 'parent')];
    const text = `echo $$ > ${parent}; sleep 600 & echo $! > ${child}; wait`;
    const { code, stderr } = await conformance(...only, 'sh', '-c', text);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('was not ready within 20 s') as string,
    });
    await requireGone(child, parent);
  });

  it('and neither answers a check nor stops fails, and leaves no process behind', async () => {
    const pid = join(folder, 'pid');
    const program = written(
      'hangs.mjs',
      `import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(pid)}, String(process.pid));
process.on('SIGTERM', () => undefined);
createServer((request, response) => {
  if (request.url === '/health/ready') response.end();
}).listen(Number(process.env.GUARD_LISTEN.split(':')[1]), '127.0.0.1');`,
    );
    const { code, stdout } = await conformance('--json', ...only, process.execPath, program);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'token-valid', passed: false, step: 1, expected: '200' });
    await requireGone(pid);
  });

  it('ends with the kit', async () => {
    const [pid, kit] = [join(folder, 'pid-2'), join(folder, 'kit')];
    const text = `echo $PPID > ${kit}; echo $$ > ${pid}; sleep 600 & wait`;
    const run = conformance(...only, 'sh', '-c', text);
    await waitFor('the program runs', 30_000, () => existsSync(pid) && readFileSync(pid, 'utf8') !== '');
    process.kill(Number(readFileSync(kit, 'utf8')), 'SIGTERM');
    expect((await run).code).toBe(143);
    await requireGone(pid);
  });
});
