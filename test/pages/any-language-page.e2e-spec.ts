import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLAGS } from '../../client/src/guard/settings.js';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount, anOrg, type Cast } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { aBoundToken, aServiceCaller, type ServiceCaller } from '../support/services.js';
import { snippetsIn } from './support/page-program.js';

const PAGE = readFileSync(resolve('docs/services-any-language.md'), 'utf8');
const PYTHON = '/usr/bin/python3';
const [invoices, handOff] = snippetsIn(PAGE, 'python') as [string, string];

it('has the flags of the help in a table', () => {
  const [, table] = /^\| Flag .*?\n\| -.*?\n(.*?)\n\n/ms.exec(PAGE)!;
  const rows = table!.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));
  expect(rows.map(([, flag, fallback, meaning]) => [flag, fallback, meaning])).toEqual(
    FLAGS.map(({ name, value, fallback, meaning }) => [
      `\`--${name}${value ? ` ${value}` : ''}\``,
      fallback ? `\`${fallback}\`` : '',
      meaning,
    ]),
  );
});

describe('a Python program of docs/services-any-language.md', () => {
  let installation: Installation;
  let service: Instance;
  let cast: Cast;
  let billing: ServiceCaller;
  let guardUrl: string;
  let programUrl: string;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    installation = await anInstallation();
    service = await startOwnService({ installation });
    cast = await anOrg(service);
    billing = await aServiceCaller(service, 'introspect', 'memberships', 'events');
    const [guardPort, port] = [await freePort(), await freePort()];
    guardUrl = `http://127.0.0.1:${guardPort}`;
    programUrl = `http://127.0.0.1:${port}`;
    start(process.execPath, [resolve('client/src/guard/main.ts')], {
      GUARD_ISSUER: 'accounts',
      GUARD_URL: service.url,
      GUARD_AUDIENCE: billing.name,
      GUARD_SERVICE: billing.name,
      GUARD_SECRET: billing.secret,
      GUARD_LISTEN: `127.0.0.1:${guardPort}`,
    });
    const file = join(installation.directory, 'invoices.py');
    writeFileSync(file, invoices.replace('http://127.0.0.1:9190', guardUrl).replace('8000', String(port)));
    // The program takes neither the login of a stranger's file nor a proxy.
    writeFileSync(join(installation.directory, '.netrc'), 'default login x password y\n', { mode: 0o600 });
    start(PYTHON, [file], { HOME: installation.directory, http_proxy: 'http://127.0.0.1:9' });
    await answers(`${guardUrl}/health/ready`, 200);
    await answers(programUrl, 404);
  });
  afterAll(async () => {
    await Promise.all(children.map(stop));
    await service.stop();
    await installation.remove();
  });

  function start(command: string, parameters: string[], env: Record<string, string>): void {
    children.push(
      spawn(command, parameters, { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' }),
    );
  }

  async function stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, 'exit');
  }

  async function answers(url: string, status: number): Promise<void> {
    const isThere = async () => (await fetch(url).catch(() => undefined))?.status === status;
    await waitFor(url, hangTimeoutMs(), isThere);
  }

  const ask = (token?: string, orgId = cast.org.id): Promise<Response> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return fetch(`${programUrl}/orgs/${orgId}/invoices`, { headers });
  };

  it('admits admins, and answers others as the guard does', async () => {
    const admitted = await ask(await aBoundToken(billing, cast.owner));
    expect([admitted.status, await admitted.json()]).toEqual([200, { invoicesOf: cast.org.id }]);
    const refused = await ask(await aBoundToken(billing, cast.member));
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'insufficient_role' }]);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    const unknown = await ask();
    expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const other = await ask(await aBoundToken(billing, await anAccount(service)));
    expect([other.status, await other.json()]).toMatchObject([403, { code: 'not_a_member' }]);
    expect((await ask(undefined, `${cast.org.id}%23`)).status).toBe(404);
  });

  it('exchanges a code with a verifier of its own', async () => {
    const exchange = `
import json, sys
import requests

GUARD = '${guardUrl}'
session = requests.Session()


def code_from_the_client(challenge):
    print(challenge, flush=True)
    return sys.stdin.readline().strip()


${handOff}
print(json.dumps([login.status_code, login.json()]))
`;
    const file = join(installation.directory, 'hand-off.py');
    writeFileSync(file, exchange);
    const program = spawn(PYTHON, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
    let printed = '';
    program.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    await waitFor('the challenge', hangTimeoutMs(), () => printed.includes('\n'));
    const pkce = { codeChallenge: printed.trim(), codeChallengeMethod: 'S256' };
    const { body } = await cast.owner.post<{ code: string }>('/api/auth/code', {
      audience: billing.name,
      ...pkce,
    });
    program.stdin.end(`${body.code}\n`);
    await once(program, 'close');

    const [status, login] = JSON.parse(printed.split('\n')[1]!) as [number, { token: string }];
    installation.secrets.noteToken(login.token);
    expect([status, login]).toMatchObject([200, { user: { id: cast.owner.id } }]);
  });

  it('answers 503 while the sidecar is gone', async () => {
    const token = await aBoundToken(billing, cast.owner);
    await stop(children[0]!);
    expect((await ask(token)).status).toBe(503);
  });
});
