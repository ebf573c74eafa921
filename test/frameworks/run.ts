// Guards a route in a new project of each framework: node test/frameworks/run.ts [NAME...]
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient, memoryStore, unwrap } from '../../client/src/index.ts';
import { createPkce, createServiceClient } from '../../client/src/service/index.ts';
import { type RunningAccounts, startAccounts } from '../../client/src/testing/index.ts';
import { freePort } from '../../client/src/free-port.ts';
import { waitFor } from '../../tooling/wait.ts';
import { MOST_LINES, type Project, PROJECTS } from './projects.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const START_TIMEOUT_MS = 120_000;
const COMMAND_TIMEOUT_MS = 600_000;

const directory = mkdtempSync(join(tmpdir(), 'accounts-frameworks-'));
const wanted = process.argv.slice(2);
try {
  const [packed] = run(['npm', 'pack', '--workspace', 'client', '--pack-destination', directory], ROOT)
    .trim()
    .split('\n')
    .slice(-1);
  for (const project of PROJECTS) {
    if (wanted.length === 0 || wanted.includes(project.name)) await test(project, join(directory, packed!));
  }
} finally {
  rmSync(directory, { recursive: true });
}

async function test(project: Project, packed: string): Promise<void> {
  const home = join(directory, project.name);
  for (const command of project.generate) run(command, directory);
  run(['npm', 'install', '--no-audit', '--no-fund', packed], home);
  const lines = edit(project, home);
  assert.ok(lines <= MOST_LINES, `${project.name}: ${lines} lines`);
  const accounts = await startAccounts({ directory: ROOT });
  const { secret } = await accounts.addService('billing');
  const env = { ...process.env, ACCOUNTS_URL: accounts.url, ACCOUNTS_SECRET: secret };
  for (const command of project.prepare) run(command, home, env);
  const server = await start(project, home, env);
  try {
    await checkRoute(server, accounts, secret);
  } catch (error) {
    throw new Error(`${project.name} wrote:\n${server.written()}`, { cause: error });
  } finally {
    await server.stop();
    await accounts.close();
  }
  console.log(`${project.name}: guarded in ${lines} lines: 200, 401, 403, and 503 with its cause in the log`);
}

/** @returns how many lines of the program are new or others */
function edit({ edits }: Project, home: string): number {
  let lines = 0;
  for (const { file, replace, by } of edits) {
    const path = join(home, file);
    if (replace === undefined) appendFileSync(path, by);
    else {
      const text = readFileSync(path, 'utf8');
      assert.ok(text.includes(replace), `${file} has ${replace}`);
      writeFileSync(
        path,
        text.replace(replace, () => by),
      );
    }
    const old = new Set(replace?.split('\n'));
    const added = by.split('\n').filter((line) => line.trim() !== '' && !old.has(line));
    // A program of its own has lines that any server has.
    const ofServer = /^import express|^export const app|^app\.listen/;
    if (!file.includes('.spec.')) lines += added.filter((line) => !ofServer.test(line)).length;
  }
  return lines;
}

async function start({ start: command }: Project, home: string, env: NodeJS.ProcessEnv) {
  const port = String(await freePort());
  const [program, ...parameters] = command;
  const variables = { ...env, PORT: port, FASTIFY_PORT: port };
  // A group, because npm does not pass signals on to each program that it runs.
  const child = spawn(program!, parameters, { cwd: home, env: variables, detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const url = `http://127.0.0.1:${port}`;
  await waitFor('the service is up', START_TIMEOUT_MS, async () => {
    assert.equal(child.exitCode, null, output);
    return fetch(url).then(
      () => true,
      () => false,
    );
  });
  return { url, written: () => output, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid!, 'SIGKILL');
  await ended;
}

async function checkRoute(
  { url, written }: Awaited<ReturnType<typeof start>>,
  accounts: RunningAccounts,
  secret: string,
): Promise<void> {
  const { ofAdmin, ofMember, unseen, orgId } = await people(accounts, secret);
  const get = async (token?: string) => {
    const headers = token === undefined ? [] : [['Authorization', `Bearer ${token}`] as [string, string]];
    const answer = await fetch(`${url}/orgs/${orgId}/invoices`, { headers });
    const body = await answer.text();
    return { status: answer.status, type: answer.headers.get('content-type'), headers: answer.headers, body };
  };
  const admitted = await get(ofAdmin);
  assert.equal(admitted.status, 200, admitted.body);
  const unknown = await get();
  assert.equal(unknown.status, 401, unknown.body);
  assert.equal(unknown.headers.get('www-authenticate'), 'Bearer');
  const refused = await get(ofMember);
  assert.equal(refused.status, 403, refused.body);
  assert.match(refused.type ?? '', /^application\/problem\+json/);
  assert.equal((JSON.parse(refused.body) as { code: string }).code, 'insufficient_role');
  assert.doesNotMatch(written(), /Content-Type doesn't match/);

  await accounts.close();
  const unavailable = await get(unseen);
  assert.equal(unavailable.status, 503, unavailable.body);
  assert.match(written(), /requests are answered 503: Accounts cannot be reached at http.* \(ECONNREFUSED\)/);
  assert.ok(!written().includes(secret));
}

/** Tokens of the login hand-off. */
async function people({ url }: RunningAccounts, secret: string) {
  const service = createServiceClient({ baseUrl: url, credentials: { name: 'billing', secret } });
  const person = async (email: string) => {
    const client = createClient({ baseUrl: url, store: memoryStore() });
    unwrap(await client.register({ email, password: 'correct horse battery' }));
    const token = async (): Promise<string> => {
      const { codeVerifier, challenge } = await createPkce();
      const { code } = unwrap(await client.issueCode({ audience: 'billing', ...challenge }));
      return unwrap(await service.exchangeCode({ code, codeVerifier })).token;
    };
    return { client, token };
  };
  const [ada, grace] = [await person('ada@example.com'), await person('grace@example.com')];
  const { id: orgId } = unwrap(await ada.client.createOrg({ name: 'Engines' })).org;
  unwrap(await ada.client.addMember({ orgId, email: 'grace@example.com', role: 'member' }));
  return { orgId, ofAdmin: await ada.token(), ofMember: await grace.token(), unseen: await ada.token() };
}

function run([program, ...parameters]: string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr } = spawnSync(program!, parameters, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: COMMAND_TIMEOUT_MS,
  });
  assert.equal(status, 0, `${program} ${parameters.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}
