import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import { COMPILE_CACHE } from '../support/service-process.js';
import { boundTokenRefused, invalidClient, invalidToken } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, anAccount, anOrgOf } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { basic } from '../support/services.js';
import { decodeToken } from '../support/signing-keys.js';
import { expectPrinted, outputOf } from './support/outputs.js';
import { run, snippetsIn } from './support/page-program.js';

const ROOT = resolve(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const GUARD_PORT = await freePort();

function sectionsOf(page: string): [heading: string, content: string][] {
  const sections = readFileSync(join(ROOT, page), 'utf8')
    .replace(/^# /, '')
    .split(/^#{2,4} /m);
  return sections.map((content) => [content.slice(0, content.indexOf('\n')), content]);
}

/** In this order each command has what it builds on. */
const PAGES = [
  'services',
  'services-hand-off',
  'services-calls',
  'services-any-language',
  'services-http',
  'services-secrets',
];
const SECTIONS = new Map(PAGES.flatMap((page) => sectionsOf(`docs/${page}.md`)));

const section = (heading: string): string => SECTIONS.get(heading)!;

type Follow = (options: {
  resync: () => void;
  apply: (event: { type: string; orgId: string | null }) => void;
  signal: AbortSignal;
}) => Promise<void>;

describe('the pages for services', () => {
  let installation: Installation;
  let service: Instance;

  beforeAll(async () => {
    installation = await anInstallation();
    service = await startOwnService({ installation });
    const bin = join(installation.directory, 'bin');
    await mkdir(bin);
    await mkdir(join(installation.directory, 'data'));
    const command = `#!/bin/sh\nshift 4\nexec '${process.execPath}' '${join(ROOT, 'dist/cli/main.js')}' "$@"\n`;
    await writeFile(join(bin, 'npm'), command);
    await chmod(join(bin, 'npm'), 0o755);
    const guard = join(ROOT, 'client/src/guard/main.ts');
    await writeFile(join(bin, 'accounts-guard'), `#!/bin/sh\nexec '${process.execPath}' '${guard}' "$@"\n`);
    await chmod(join(bin, 'accounts-guard'), 0o755);
  });
  afterAll(async () => {
    await service.stop();
    await installation.remove();
  });

  /** Follows the page from the README on in one terminal, and returns what the commands of each section print. */
  async function followed(): Promise<Map<string, string>> {
    const requests = snippetsIn(README, 'sh').find((snippet) => snippet.startsWith('BASE='))!;
    const steps = [...SECTIONS].flatMap(([heading, content]) => {
      const commands = snippetsIn(content, 'sh').join('\n');
      return commands === '' ? [] : [`printf '\\n@@%s\\n' '${heading}'\n${commands}`];
    });
    const script = [
      'set -eu',
      requests.replace(/BASE=.*/, `BASE=${service.url}`),
      ...steps,
      `printf '\\n@@end\\n'; curl -sS $BASE/api/me -H "Authorization: Bearer $BOUND"`,
      'kill $!; wait $!',
    ]
      .join('\n')
      .replaceAll('127.0.0.1:9190', `127.0.0.1:${GUARD_PORT}`);
    const PATH = `${join(installation.directory, 'bin')}:${process.env['PATH']}`;
    const env = { PATH, GUARD_LISTEN: `127.0.0.1:${GUARD_PORT}`, ...COMPILE_CACHE, ...installation.env };
    const shell = spawn('sh', ['-c', script], { cwd: installation.directory, env });
    const [stdout, stderr, [code]] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, 'close'),
    ]);
    expect({ code: code as number, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    const printed = stdout.split('\n@@').slice(1);
    return new Map(printed.map((part) => [part.split('\n', 1)[0]!, part.replace(/.*\n/, '').trim()]));
  }

  it('leads in one terminal from credentials to a rotation, a leak and a lock', async () => {
    const printed = await followed();
    const json = (heading: string): unknown => JSON.parse(printed.get(heading)!);

    expect(printed.get('Credentials and scopes')).toBe('');
    expectPrinted(printed.get('Start the sidecar')!, outputOf('docs/services-any-language.md', 'listen:'));
    expectPrinted(printed.get('Ask from a shell')!, outputOf('docs/services-any-language.md', '{"user"'));
    expect(json('Exchange a one-time code with curl')).toMatchObject({ user: { email: 'ada@example.com' } });
    const plain = json('Plain codes') as { token: string };
    expect(decodeToken(plain.token).claims['aud']).toBe('accounts');
    const [, forUser, own] = printed.get('Get a token for a call with curl')!.split('\n');
    expectPrinted(
      printed.get('Get a token for a call with curl')!,
      outputOf('docs/services-http.md', 'billing: may'),
    );
    const claims = [forUser, own].map(
      (line) => decodeToken((JSON.parse(line!) as { access_token: string }).access_token).claims,
    );
    const call = { aud: 'ledger', client_id: 'billing' };
    expect(claims).toMatchObject([
      { ...call, act: { sub: 'service:billing' } },
      { ...call, sub: 'service:billing' },
    ]);
    expectPrinted(printed.get('Introspect a token')!, outputOf('docs/services-http.md', '{"active"'));
    const memberships = [{ role: 'owner' }];
    expect(json('List memberships')).toMatchObject({ memberships });
    expectPrinted(
      printed.get('Get names by id')!.split('\n').at(-1)!,
      outputOf('docs/services-http.md', '{"orgs"'),
    );
    expectPrinted(printed.get('Follow the event feed')!, outputOf('docs/services-http.md', '{"events"'));
    for (const line of [
      /^secret .* used in the hour of /m,
      /^secret .* never used$/m,
      /^billing: the secret \S+ is revoked$/m,
    ])
      expect(printed.get('Rotate the secret')).toMatch(line);
    expect(printed.get('Replace a leaked secret')).toMatch(
      /^billing: the secret \S+ is revoked, and every delegated session of the service has ended$/m,
    );
    expect(json('end')).toMatchObject(invalidToken.body);
    expect((await service.anyone.withToken(plain.token).get('/api/me')).status).toBe(200);

    const revoked = { revokedAt: expect.stringMatching(/Z$/) as unknown };
    const secrets = [revoked, revoked, { revokedAt: null }];
    const [billing] = await accountsJson(installation, ['services', 'show', 'billing']);
    expect(billing).toMatchObject({ secrets });
  });

  describe('for a service with credentials', () => {
    let ada: Account;
    let secret: string;

    beforeAll(async () => {
      const added = await accountsJson<{ secret: string }>(installation, ['services', 'add', 'shop']);
      ({ secret } = added[0]!);
      ada = await anAccount(service, 'ada');
    });

    async function aCode(): Promise<string> {
      const { body } = await ada.post<{ code: string }>('/api/auth/code', { audience: 'shop' });
      expect(body).toMatchObject({ audience: 'shop' });
      return body.code;
    }
    const exchange = (code: string, by = secret) =>
      service.anyone
        .with({ authorization: basic('shop', by) })
        .post<{ token: string }>('/api/auth/code/exchange', { code });

    it('names the routes that take its tokens', async () => {
      const org = await anOrgOf(ada);
      const { body } = await exchange(await aCode());
      const bound = service.anyone.withToken(body.token);
      const routes = [
        ...section('What the access token of a bound code can do').matchAll(/^\| `(GET|POST) (\S+)`/gm),
      ];
      expect(routes).toHaveLength(6);
      expect(await bound.get('/api/me/sessions')).toMatchObject(boundTokenRefused);
      for (const [, method, path] of routes) {
        const at = path!.replace(':orgId', org.id).replace(':userId', 'me');
        const { status } = await bound.sendJson(method!, at, method === 'GET' ? undefined : {});
        expect(status, path).toBe(200);
      }
    });

    it('has an exchange in TypeScript that tells its failures apart', async () => {
      const secretFile = join(installation.directory, 'accounts-secret');
      const [snippet] = snippetsIn(section('Accept a login from a desktop client'), 'ts');
      let times = 0;
      const exchangedBy = async (baseUrl: string, code: (issued: string) => string = (issued) => issued) => {
        const program = snippet!
          .replace("issuer: 'https://accounts.example.com'", `issuer: 'accounts', baseUrl: '${baseUrl}'`)
          .replaceAll("'billing'", "'shop'")
          .replace('/run/secrets/accounts-secret', secretFile);
        const codeFromTheClient = async (challenge: object): Promise<string> => {
          const asked = { audience: 'shop', ...challenge };
          return code((await ada.post<{ code: string }>('/api/auth/code', asked)).body.code);
        };
        Object.assign(globalThis, { codeFromTheClient });
        times += 1;
        const file = join(installation.directory, `exchange-${times}.mjs`);
        const { login, guard } = (await run(file, `${program}\nexport { login, guard };`)) as {
          guard: { close(): Promise<void> };
          login: { token?: string };
        };
        await guard.close();
        return login;
      };

      await writeFile(secretFile, `acs_${'A'.repeat(43)}\n`);
      const failed = (code: string) => ({ status: 503, problem: { code: 'unavailable' }, cause: { code } });
      expect(await exchangedBy(service.url)).toMatchObject(failed('invalid_client'));
      await writeFile(secretFile, `${secret}\n`);
      expect(await exchangedBy(service.url)).toMatchObject(failed('insufficient_scope'));
      expect(await exchangedBy(`http://127.0.0.1:${await freePort()}`)).toMatchObject({ status: 503 });
      await accountsJson(installation, ['services', 'allow', 'shop', 'introspect,events']);
      const refused = { status: 400, problem: { code: 'invalid_code' } };
      expect(await exchangedBy(service.url, () => 'c'.repeat(43))).toMatchObject(refused);
      const login = await exchangedBy(service.url);
      expect(login).toMatchObject({ ok: true, user: { id: ada.id } });
      installation.secrets.noteToken(login.token!);
      expect(decodeToken(login.token!).claims).toMatchObject({ sub: ada.id, aud: 'shop', client_id: 'shop' });
    });

    it('has a loop in JavaScript that hears of each change once, and begins anew where its cursor is refused', async () => {
      await accountsJson(installation, ['services', 'allow', 'shop', 'events']);
      const snippet = snippetsIn(section('Follow the event feed'), 'js')
        .join('\n')
        .replace('https://accounts.example.com', service.url)
        .replace("'billing'", "'shop'")
        .replace('process.env.ACCOUNTS_SECRET', `'${secret}'`);
      const file = join(installation.directory, 'follow.mjs');
      const { follow } = (await run(file, `${snippet}\nexport { follow };`)) as { follow: Follow };
      const heard: string[] = [];
      const stop = new AbortController();
      const following = follow({
        resync: () => void heard.push('resync'),
        apply: ({ type, orgId }) => void heard.push(`${type} ${orgId}`),
        signal: stop.signal,
      });
      const until = (what: string) => waitFor(what, hangTimeoutMs(), () => heard.includes(what));
      await until('resync');
      const org = await anOrgOf(ada);
      await until(`org.created ${org.id}`);
      // A restore does the same: an event whose mark stays would be numbered again, and the cursor be one of the feed again.
      await installation.db.query('UPDATE events SET pending = NULL');
      await installation.db.query('DELETE FROM feed');
      await waitFor('a second resync', hangTimeoutMs(), async () => {
        await ada.patch(`/api/orgs/${org.id}`, { name: `Engines ${heard.length}` });
        return heard.filter((what) => what === 'resync').length === 2;
      });
      stop.abort();
      await ada.patch(`/api/orgs/${org.id}`, { name: 'The last' });
      await following;
      expect(heard.filter((what) => what === `org.created ${org.id}`)).toHaveLength(1);
    });

    it('rotates its secret as the page says, while codes are exchanged, without a failure', async () => {
      const commands = snippetsIn(section('Rotate the secret'), 'sh')[0]!
        .split('\n')
        .flatMap((line) => /accounts (services (?:rotate|show|revoke-secret) billing)/.exec(line)?.[1] ?? [])
        .map((command) => command.replace('billing', 'shop').split(' '));
      expect(commands.map(([, command]) => command)).toEqual(['rotate', 'show', 'revoke-secret']);
      const [rotate, show, revoke] = commands as [string[], string[], string[]];
      const used: { client: number; by: string; status: number }[] = [];
      const done = new AbortController();
      const use = async (client: number): Promise<void> => {
        while (!done.signal.aborted) {
          const by = secret;
          used.push({ client, by, status: (await exchange(await aCode(), by)).status });
        }
      };
      const clients = [1, 2].map(use);
      const old = secret;

      const [rotated] = await accountsJson<{ secret: string }>(installation, rotate);
      expect((await exchange(await aCode(), old)).status).toBe(200);
      ({ secret } = rotated!);
      const users = () => new Set(used.flatMap(({ client, by }) => (by === secret ? client : [])));
      await waitFor('the old secret is out of use', hangTimeoutMs(), () => users().size === clients.length);
      await accountsJson(installation, show);
      await accountsJson(installation, revoke);
      expect((await exchange(await aCode())).status).toBe(200);
      done.abort();
      await Promise.all(clients);

      expect(new Set(used.map(({ by }) => by))).toEqual(new Set([old, secret]));
      expect(used.filter(({ status }) => status !== 200)).toEqual([]);
      expect(await exchange(await aCode(), old)).toMatchObject(invalidClient);
    });
  });
});
