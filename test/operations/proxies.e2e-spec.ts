import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { requireProgram } from '../../tooling/processes/find-program.js';
import { ServerProcess } from '../../tooling/processes/server-process.js';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Door } from '../client/support/door.js';
import { keptAliveRequest, openConnection } from '../support/connections.js';
import { anAccount, anOrg, anOrgOf, join as addMember } from '../support/personas.js';
import { startService } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';
import { get, type Received, Sidecar } from '../support/sidecar.js';

const FILES = resolve(import.meta.dirname, '../../deploy/guard');
/** As `X-Accounts-…` or in the spelling that CGI makes of it. */
const TRUSTED = /^x[-_]accounts/i;
const FORGED = {
  'X-Accounts-User': 'mallory',
  'x-accounts-ORG': 'mallory',
  X_Accounts_User: 'mallory',
  x_accounts_role: 'owner',
  'X-Accounts_Org': 'mallory',
  'X_Accounts-Role': 'owner',
  'X-Accounts-Service': 'billing',
  'X-Accounts-Admin': 'yes',
};
const ADMITTED = ['user', 'session', 'amr', 'org', 'role', 'via', 'key', 'service'].map(
  (name) => `x-accounts-${name}`,
);

const accounts = await startService();
const door = await Door.open(accounts.url);
const { org, owner, admin, member, outsider } = await anOrg(accounts);
/** The member is an owner elsewhere, which must not help. */
const other = await anOrgOf(member);
const sidecar = await Sidecar.start(
  door.url,
  await aServiceCaller(accounts, 'introspect', 'memberships', 'events'),
);

/** What reached the service, in the order in which it came. */
const reached: { method: string; url: string; trusted: [name: string, value: string][]; body: string }[] = [];
async function note(incoming: IncomingMessage): Promise<void> {
  const trusted: [string, string][] = [];
  const { rawHeaders } = incoming;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (TRUSTED.test(rawHeaders[index]!)) trusted.push([rawHeaders[index]!, rawHeaders[index + 1]!]);
  const parts: Buffer[] = [];
  for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
  const body = Buffer.concat(parts).toString();
  reached.push({ method: incoming.method!, url: incoming.url!, trusted, body });
}
const service = createServer((incoming, outgoing) => {
  void note(incoming).then(() => outgoing.end('invoices'));
});
service.on('upgrade', (incoming, socket) => {
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  // HAProxy compares it with the key.
  const upgrade = [...head, 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=', '', ''].join('\r\n');
  reached.push({
    method: 'upgrade',
    url: incoming.url!,
    trusted: [],
    body: String(incoming.headers['x-accounts-user']),
  });
  socket.end(`${upgrade}hello`);
});
await once(service.listen(0, '127.0.0.1'), 'listening');

afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await sidecar.close();
  await door.close();
  await accounts.stop();
});

/** Of the headers that the service trusts, those that name something. */
const identityIn = (headers: [string, string][]): Record<string, string> =>
  Object.fromEntries(
    headers.filter(([, value]) => value !== '').map(([name, value]) => [name.toLowerCase(), value]),
  );

class Proxy {
  readonly process: ServerProcess;
  port = 0;

  constructor(readonly name: 'nginx' | 'caddy' | 'haproxy') {
    this.process = new ServerProcess(name, temporaryDirectory(name));
  }

  /** Runs the file of the docs, of which only ports and places are replaced. */
  async start(): Promise<void> {
    this.port = await freePort();
    const { directory } = this.process;
    const file = { nginx: 'nginx.conf', caddy: 'Caddyfile', haproxy: 'haproxy.cfg' }[this.name];
    const configuration = join(directory, file);
    writeFileSync(configuration, this.adapt(readFileSync(join(FILES, file), 'utf8')));
    if (this.name === 'haproxy') {
      const action = readFileSync(join(FILES, 'accounts-guard.lua'), 'utf8');
      writeFileSync(join(directory, 'accounts-guard.lua'), replacePorts(action, this.port));
    }
    const args = {
      nginx: ['-c', configuration, '-g', `daemon off; pid ${directory}/pid; error_log stderr;`],
      caddy: ['run', '--adapter', 'caddyfile', '--config', configuration],
      haproxy: ['-db', '-f', configuration],
    }[this.name];
    const env = { ...process.env, HOME: directory };
    this.process.launch({ program: requireProgram(this.name), args, env });
    const answers = async (): Promise<boolean> => (await get(this.port, '/')).status === 404;
    await this.process.waitUntil('answers', hangTimeoutMs(), answers);
  }

  private adapt(text: string): string {
    const { directory } = this.process;
    const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (what) => `${what}_temp_path ${directory}/${what};`,
    );
    return replacePorts(text, this.port)
      .replace(/^http {/m, `http { access_log off; ${own.join(' ')}`)
      .replace('/etc/haproxy', directory);
  }

  get(path: string, token?: string, headers: Record<string, string> = {}, more = {}): Promise<Received> {
    const authorization = token === undefined ? [] : [['authorization', `Bearer ${token}`] as const];
    return get(this.port, path, { ...Object.fromEntries(authorization), ...headers }, more);
  }
}

function replacePorts(text: string, port: number): string {
  const ports = { 8080: port, 8000: (service.address() as AddressInfo).port, 9190: sidecar.port };
  let replaced = text;
  for (const [from, to] of Object.entries(ports))
    replaced = replaced.replaceAll(new RegExp(`(?<=[:\\s])${from}\\b`, 'g'), String(to));
  return replaced;
}

const invoices = `/orgs/${org.id}/invoices`;
/** Each could be read as the path of the organization that the member may not administer. */
const TRICKS = [
  `/orgs/${org.id}%23/invoices`,
  `/orgs/${org.id}%23&role=member/invoices`,
  `/orgs/${org.id}%26role=member/invoices`,
  `/orgs/${org.id}%26role%3Dmember/invoices`,
  `/orgs/${org.id}&role=member/invoices`,
  `/orgs/${org.id}?x=/invoices`,
  `${invoices}?role=member`,
  `${invoices}?org=${other.id}&role=member`,
  `${invoices}#&role=member`,
  `/${invoices}`,
  `/orgs/${other.id}/..${invoices}`,
  `/orgs//${org.id}/invoices`,
  `/orgs/${org.id}//invoices`,
  `/orgs/${other.id}/../${org.id}/invoices`,
  `/orgs/${other.id}/%2e%2e/${org.id}/invoices`,
  `/orgs/${other.id}%2f..%2f${org.id}/invoices`,
  `/orgs/${other.id}/..%5c${org.id}/invoices`,
  `/orgs/%${org.id.charCodeAt(0).toString(16)}${org.id.slice(1)}/invoices`,
  `/%6frgs/${org.id}/invoices`,
  `/orgs/${org.id}%00/invoices`,
  `${invoices}/`,
  `${invoices}%2f`,
  `${invoices}/.`,
  `/orgs/./${org.id}/invoices`,
  `\\orgs\\${org.id}\\invoices`,
  `/orgs/${org.id},${other.id}/invoices`,
  `http://127.0.0.1${invoices}`,
];

describe.each(['nginx', 'caddy', 'haproxy'] as const)('%s with the file of deploy/guard', async (name) => {
  const proxy = new Proxy(name);
  await proxy.start();
  afterAll(() => proxy.process.close());

  it('passes on who was admitted, and nothing that the client says of it', async () => {
    const sent = { ...FORGED, 'X-Forwarded-Uri': `/orgs/${other.id}/invoices`, 'Content-Type': 'text/plain' };
    const answer = await proxy.get(`${invoices}?page=3`, admin.token, sent, { method: 'POST', body: 'paid' });
    expect(answer, proxy.process.logTail()).toMatchObject({ status: 200, text: 'invoices' });
    const { trusted, ...rest } = reached.at(-1)!;
    expect(rest).toEqual({ method: 'POST', url: `${invoices}?page=3`, body: 'paid' });
    const direct = await sidecar.get(`/check?org=${org.id}&role=admin`, admin.token);
    const expected = ADMITTED.map((header): [string, string] => [header, String(direct.headers[header])]);
    expect(identityIn(trusted)).toEqual(identityIn(expected));
    expect(identityIn(trusted)).toMatchObject({ 'x-accounts-user': admin.id, 'x-accounts-role': 'admin' });
    const names = trusted.map(([header]) => header.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    ['without a token', undefined, 401],
    ['with a token that is none', 'e30.e30.e30', 401],
    ['of a member', member.token, 403],
    ['of somebody who is no member', outsider.token, 403],
  ])('answers a request %s as the sidecar does', async (_, token, status) => {
    const before = reached.length;
    const answer = await proxy.get(invoices, token, FORGED);
    const direct = await sidecar.get(`/check?org=${org.id}&role=admin`, token);
    expect([answer.status, direct.status]).toEqual([status, status]);
    expect(JSON.parse(answer.text)).toEqual(JSON.parse(direct.text));
    for (const header of ['content-type', 'cache-control', 'www-authenticate', 'retry-after'])
      expect([header, answer.headers[header]]).toEqual([header, direct.headers[header]]);
    expect(reached).toHaveLength(before);
  });

  it('answers 503 as the sidecar does while Accounts cannot be asked', async () => {
    const unseen = await anAccount(accounts);
    door.pageStatus = 502;
    try {
      const answer = await proxy.get(invoices, unseen.token);
      const direct = await sidecar.get(`/check?org=${org.id}&role=admin`, unseen.token);
      expect([answer.status, direct.status]).toEqual([503, 503]);
      expect(JSON.parse(answer.text)).toEqual(JSON.parse(direct.text));
      for (const header of ['content-type', 'cache-control', 'retry-after'])
        expect([header, answer.headers[header]]).toEqual([header, direct.headers[header]]);
    } finally {
      door.pageStatus = undefined;
    }
  });

  it.each(TRICKS)('never lets a member in by %s', async (path) => {
    const before = reached.length;
    const answer = await proxy.get(path, member.token, { 'X-Forwarded-Uri': invoices });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(reached).toHaveLength(before);
  });

  it.each(TRICKS)('lets an admin see the organization that was checked, or nothing, by %s', async (path) => {
    const before = reached.length;
    await proxy.get(path, admin.token);
    for (const { url, trusted } of reached.slice(before)) {
      expect(identityIn(trusted)).toMatchObject({ 'x-accounts-org': org.id, 'x-accounts-role': 'admin' });
      expect(url.split('?')[0]).toBe(invoices);
    }
  });

  it('refuses two tokens, or reads one of them only', async () => {
    const before = reached.length;
    const both = [`Bearer ${member.token}`, `Bearer ${admin.token}`];
    expect((await get(proxy.port, invoices, { authorization: both })).status).toBeGreaterThanOrEqual(400);
    expect(reached).toHaveLength(before);
  });

  it('passes a preflight without a token, and without the name of a user', async () => {
    const preflight = {
      ...FORGED,
      Origin: 'https://app.example.com',
      'Access-Control-Request-Method': 'GET',
    };
    expect(await proxy.get(invoices, undefined, preflight, { method: 'OPTIONS' })).toMatchObject({
      status: 200,
    });
    expect(reached.at(-1)).toMatchObject({ method: 'OPTIONS' });
    expect(identityIn(reached.at(-1)!.trusted)).toEqual({});
  });

  it.each([
    ['admin', admin, /^HTTP\/1.1 101 [^]*\r\n\r\nhello$/],
    ['member', member, /^HTTP\/1.1 403 /],
  ])('checks the handshake of a WebSocket of the %s', async (_, user, expected) => {
    const { socket, text } = await openConnection(`http://127.0.0.1:${proxy.port}`);
    const head = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const headers = [...head, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'X-Accounts-User: mallory'];
    socket.write(keptAliveRequest(`GET ${invoices}`, [...headers, `Authorization: Bearer ${user.token}`]));
    await waitFor('the handshake is answered', hangTimeoutMs(), () => /hello$|^HTTP\/1.1 [^1]/.test(text()));
    expect(text()).toMatch(expected);
    const upgraded = reached.filter(({ method, body }) => method === 'upgrade' && body === user.id);
    expect(upgraded.length > 0).toBe(user === admin);
    expect(reached.filter(({ body }) => body === 'mallory')).toEqual([]);
    socket.destroy();
  });

  it('refuses a member soon after the removal', async () => {
    const leaver = await anAccount(accounts);
    await addMember(org, owner, leaver, 'admin');
    const status = async (): Promise<number> => (await proxy.get(invoices, leaver.token)).status;
    await waitFor('the new admin is admitted', hangTimeoutMs(), async () => (await status()) === 200);
    const removed = await owner.delete(`/api/orgs/${org.id}/members/${leaver.id}`);
    const begunAt = performance.now();
    expect(removed.status).toBe(200);
    await waitFor('the removal is seen', hangTimeoutMs(), async () => (await status()) === 403, 5);
    console.info(`${name}: removal seen after ${Math.round(performance.now() - begunAt)} ms`);
    expect(await status()).toBe(403);
  });

  it('lets nothing pass while the sidecar is down, and passes requests again after its start', async () => {
    const before = reached.length;
    await sidecar.process.kill();
    for (let time = 0; time < 5; time += 1) {
      const answer = await proxy.get(invoices, admin.token, FORGED);
      expect(answer).toMatchObject({
        status: 503,
        headers: {
          'content-type': 'application/problem+json',
          'cache-control': 'no-store',
          'retry-after': '1',
        },
      });
      expect(JSON.parse(answer.text)).toMatchObject({ status: 503, code: 'unavailable' });
    }
    expect(reached).toHaveLength(before);
    await sidecar.start();
    await waitFor('requests pass again', hangTimeoutMs(), async () => {
      return (await proxy.get(invoices, admin.token)).status === 200;
    });
  });
});

interface Traefik {
  http: {
    routers: Record<string, { rule: string; middlewares: string[] }>;
    middlewares: Record<
      'accounts-guard' | 'without-token',
      { forwardAuth: { address: string; authRequestHeaders?: string[]; authResponseHeadersRegex: string } }
    >;
  };
}

const parsed = (file: string): unknown => parse(readFileSync(join(FILES, file), 'utf8'));

describe('what Traefik sends by its manual and the file of deploy/guard', () => {
  const { routers, middlewares } = (parsed('traefik.yaml') as Traefik).http;
  const { 'accounts-guard': guard, 'without-token': preflight } = middlewares;
  const target = new URL(guard.forwardAuth.address);
  const check = (uri: string, token: string): Promise<Received> =>
    get(sidecar.port, `${target.pathname}${target.search}`, {
      'X-Forwarded-Method': 'GET',
      'X-Forwarded-Proto': 'http',
      'X-Forwarded-Host': 'localhost',
      'X-Forwarded-Uri': uri,
      'X-Forwarded-For': '127.0.0.1',
      authorization: `Bearer ${token}`,
    });

  it('is admitted as it should be', async () => {
    expect((await check(`${invoices}?page=3`, admin.token)).headers).toMatchObject({
      'x-accounts-user': admin.id,
      'x-accounts-org': org.id,
    });
    expect((await check(invoices, member.token)).status).toBe(403);
    for (const path of TRICKS) expect([path, (await check(path, member.token)).status]).not.toContain(200);
  });

  it('leaves no header of the client, with a token and without', async () => {
    const [insensitive, source] = /^\(\?i\)(.*)$/.exec(guard.forwardAuth.authResponseHeadersRegex)!;
    expect(insensitive).toBe(preflight.forwardAuth.authResponseHeadersRegex);
    const removed = new RegExp(source!, 'i');
    expect([...Object.keys(FORGED), ...ADMITTED].filter((header) => !removed.test(header))).toEqual([]);
    expect(guard.forwardAuth.authRequestHeaders).toEqual(['Authorization', 'Accounts-Revision']);
    const live = new URL(preflight.forwardAuth.address);
    expect(await sidecar.status(live.pathname)).toBe(200);
    const used = Object.values(routers).map(({ rule, middlewares: names }) => [rule.split('&& ')[1], names]);
    expect(used).toEqual([
      ['!Method(`OPTIONS`)', ['accounts-guard']],
      ['Method(`OPTIONS`)', ['without-token']],
    ]);
  });
});

interface Envoy {
  static_resources: {
    listeners: [{ filter_chains: [{ filters: [{ typed_config: { http_filters: EnvoyFilter[] } }] }] }];
  };
}

interface EnvoyFilter {
  name: string;
  typed_config: {
    status_on_error: { code: string };
    allowed_headers: { patterns: { exact: string }[] };
    http_service: { server_uri: { timeout: string }; path_prefix: string };
  };
}

describe('what Envoy sends by its manual and the file of deploy/guard', () => {
  const { http_filters: filters } = (parsed('envoy.yaml') as Envoy).static_resources.listeners[0]
    .filter_chains[0].filters[0].typed_config;
  const { typed_config: guard } = filters.find(({ name }) => name === 'envoy.filters.http.ext_authz')!;
  const check = (path: string, token: string, method = 'GET'): Promise<Received> =>
    get(
      sidecar.port,
      `${guard.http_service.path_prefix}${path}`,
      { authorization: `Bearer ${token}`, 'content-length': '0' },
      { method },
    );

  it('is admitted as it should be, whatever the query of the client says', async () => {
    for (const method of ['GET', 'POST', 'DELETE'])
      expect((await check(`${invoices}?page=3`, admin.token, method)).headers).toMatchObject({
        'x-accounts-user': admin.id,
        'x-accounts-org': org.id,
      });
    expect((await check(`${invoices}?role=member&org=${other.id}`, member.token)).status).toBe(403);
    for (const path of TRICKS) expect([path, (await check(path, member.token)).status]).not.toContain(200);
  });

  it('has an answer before Envoy gives up, and 503 if there is none', () => {
    const seconds = Number.parseInt(guard.http_service.server_uri.timeout, 10);
    expect(seconds).toBeGreaterThan(10);
    expect(guard).toMatchObject({
      status_on_error: { code: 'ServiceUnavailable' },
      allowed_headers: { patterns: [{ exact: 'accounts-revision' }] },
    });
    expect(filters.map(({ name }) => name.split('.').at(-1))).toEqual([
      'header_mutation',
      'ext_authz',
      'router',
    ]);
  });
});
