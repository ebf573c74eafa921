import { spawnSync } from 'node:child_process';
import { type ClientHttp2Session, connect, type Settings } from 'node:http2';
import { expect, it } from 'vitest';
import { requireProgram } from '../../tooling/processes/find-program.js';
import { hangTimeoutMs, waitFor, within } from '../../tooling/wait.js';
import { atOnce, times } from '../support/at-once.js';
import { type Answered, KeepAliveClient } from '../support/keep-alive-client.js';
import { addCrowd, addOrgs } from '../support/rows.js';
import { anAccount, anOrgOf } from '../support/personas.js';
import { closeAfterAll, startInstance, Storage } from './support/deployment.js';
import { report } from './support/figures.js';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectByTls, type TLSSocket } from 'node:tls';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { ServerProcess } from '../../tooling/processes/server-process.js';
import { freePort } from '../../client/src/free-port.ts';
import { Authority } from '../support/certificates.js';

const OTHER = '127.0.0.1';
/** Each test has its own: HAProxy counts the connections of the test before for a moment. */
const GREEDY = ['127.0.0.3'];
const FOUR_GREEDY = ['127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7'];
const READER = '127.0.0.8';
/** one less than it allows, as a client would that wants to stay */
const STREAMS = 99;
/** as many of them as HAProxy sends on (tune.h2.max-concurrent-streams) */
const STREAMS_AT_ONCE = 4;
const CONNECTIONS = 98;
/** together longer than HAProxy's buffer, so that an unread answer holds its place */
const ORGS = 400;
/** Headers of answers arrive, and nothing of their bodies. */
const NO_WINDOW: Settings = { initialWindowSize: 0 };
const CLIENTS = 10;
const REQUESTS_EACH = 5;

/** The only address that the balancer takes for one of the operators' network. */
const INSIDE = '127.0.0.9';
const ANSWER_TIMEOUT_MS = 60_000;

const { installation } = await closeAfterAll(Storage.on('sqlite'));
const instance = await closeAfterAll(startInstance(installation, { TRUST_PROXY: '127.0.0.1' }));

/** A real HAProxy with deploy/haproxy.cfg, of which only what depends on this machine is replaced. */
const balancer = await closeAfterAll(new ServerProcess('haproxy', temporaryDirectory('haproxy')));
const authority = await Authority.create('the balancer of a test');
const ca = readFileSync(authority.certificate, 'utf8');
const port = await freePort();
const url = `https://127.0.0.1:${port}`;
const configuration = join(balancer.directory, 'haproxy.cfg');

async function configure(): Promise<void> {
  const { certificate, key } = await authority.issue('DNS:localhost,IP:127.0.0.1');
  const pem = join(balancer.directory, 'tls.pem');
  writeFileSync(pem, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'), { mode: 0o600 });
  let text = readFileSync('deploy/haproxy.cfg', 'utf8');
  const replace = (place: RegExp, replacement: string): void => {
    expect(text).toMatch(place);
    text = text.replace(place, replacement);
  };
  replace(/bind :8443 ssl crt \S+/, `bind 127.0.0.1:${port} ssl crt ${pem}`);
  // A machine that is busy answers a check late.
  replace(/timeout check 3s/, 'timeout check 60s');
  replace(/acl inside src .*/, `acl inside src ${INSIDE}`);
  for (const name of ['one', 'two', 'three'])
    replace(new RegExp(`server ${name} \\S+`), `server ${name} ${new URL(instance.url).host}`);
  writeFileSync(configuration, text);
}

const clientAt = (localAddress: string): KeepAliveClient =>
  new KeepAliveClient(url, ANSWER_TIMEOUT_MS, { localAddress, ca });

await configure();
balancer.launch({ program: requireProgram('haproxy'), args: ['-W', '-db', '-f', configuration] });
const prober = await closeAfterAll(clientAt('127.0.0.1'));
await balancer.waitUntil('answers', ANSWER_TIMEOUT_MS, async () => {
  const sent = await prober.send('GET', '/health/live');
  return sent.kind === 'answered' && sent.status === 200;
});
const account = await anAccount(instance);
await addOrgs(installation.db, account, ORGS);

async function answer(
  client: KeepAliveClient,
  path: string,
  headers: Record<string, string> = {},
  { token } = account,
): Promise<Answered> {
  const sent = await client.send('GET', path, { token, headers });
  if (sent.kind !== 'answered') throw new Error(`${path}: ${sent.kind}`);
  return sent;
}

it('starts without a warning', () => {
  const args = ['-c', '-f', configuration];
  const { status, stdout, stderr } = spawnSync(requireProgram('haproxy'), args, { encoding: 'utf8' });

  expect({ status, warnings: /.*(?:WARNING|ALERT).*/.exec(stdout + stderr)?.[0] }).toEqual({ status: 0 });
});

it('can be set up on Debian by the commands of docs/deploy-systemd.md', async () => {
  const [, commands] = /## HAProxy on Debian[^]*?```sh\n(sed [^]*?)^haproxy -c/m.exec(
    readFileSync('docs/deploy-systemd.md', 'utf8'),
  )!;
  const file = join(balancer.directory, 'debian.cfg');
  const here = commands!
    .replace('/opt/accounts/', `${process.cwd()}/`)
    .replace('/etc/haproxy/tls.pem', join(balancer.directory, 'tls.pem'))
    .replace('/etc/haproxy/haproxy.cfg', file);
  expect(spawnSync('sh', ['-c', here], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });

  const checked = spawnSync(requireProgram('haproxy'), ['-c', '-f', file], { encoding: 'utf8' });
  expect({ status: checked.status, stderr: checked.stderr }).toEqual({ status: 0, stderr: '' });
  const written = readFileSync(file, 'utf8');
  expect(written).toContain('user haproxy');
  expect(written.match(/^ {2}(?:bind|server) .*$/gm)).toEqual([
    expect.stringMatching(/^ {2}bind :443 ssl crt /),
    '  server one 127.0.0.1:3000',
  ]);
});

it.each([
  ['one client fills its connections', GREEDY],
  ['four clients fill their connections', FOUR_GREEDY],
])('serves others while %s with HTTP/2 requests whose answers are not read', async (_clients, addresses) => {
  const sessions: ClientHttp2Session[] = [];
  for (const address of addresses) {
    const unreadAnswers = Promise.all(times(CONNECTIONS, () => connectUnread(address)));
    sessions.push(...(await within('each has an unread answer', hangTimeoutMs(), unreadAnswers)));
  }

  const statuses = await statusesOfOthers();
  for (const session of sessions) session.destroy();
  expectAllServed(statuses, sessions.length);
});

it('serves others while one client reads 392 lists of 1,000 members with profiles at once', async () => {
  const org = await anOrgOf(account);
  await addCrowd(installation.db, org, 999);
  const name = '\u{1D504}'.repeat(100);
  await installation.db.query("UPDATE users SET name = ?, avatar_url = ? WHERE email LIKE 'u%'", [
    name,
    `https://example.com/${'a'.repeat(480)}`,
  ]);
  const path = `/api/orgs/${org.id}?include=profile`;
  let isOver = false;
  let lists = 0;
  const sessions = times(CONNECTIONS, () => greedyConnection(READER));
  const ask = (session: ClientHttp2Session): void => {
    if (isOver || session.destroyed) return;
    const request = session.request({ ':path': path, authorization: `Bearer ${account.token}` });
    request.on('error', () => undefined).on('end', () => (lists += 1));
    request.once('close', () => ask(session)).resume();
  };
  for (const session of sessions) for (let stream = 0; stream < STREAMS_AT_ONCE; stream += 1) ask(session);
  await waitFor('the first list has been read', hangTimeoutMs(), () => lists > 0);

  const statuses = await statusesOfOthers();
  isOver = true;
  for (const session of sessions) session.destroy();
  expectAllServed(statuses, sessions.length * STREAMS_AT_ONCE);
});

async function statusesOfOthers(): Promise<number[]> {
  const other = await anAccount(instance);
  const statuses: number[] = [];
  await atOnce(
    times(CLIENTS, () => async () => {
      const client = clientAt(OTHER);
      for (let n = 0; n < REQUESTS_EACH; n += 1)
        statuses.push((await answer(client, '/api/me', {}, other)).status);
      client.close();
    }),
  );
  return statuses;
}

function expectAllServed(statuses: number[], faults: number): void {
  const refused = statuses.filter((status) => status !== 200);
  report({ faults, requests: statuses.length, wrong: refused.length });
  expect(refused).toEqual([]);
}

function greedyConnection(localAddress: string, settings: Settings = {}): ClientHttp2Session {
  const options = { ca, localAddress, settings };
  return connect(url, options).on('error', () => undefined);
}

/** Resolves when its first answer has begun. A client that HAProxy disconnects before that connects again. */
async function connectUnread(localAddress: string): Promise<ClientHttp2Session> {
  for (;;) {
    const session = greedyConnection(localAddress, NO_WINDOW);
    const closed = new Promise<'closed'>((done) => session.once('close', () => done('closed')));
    if ((await Promise.race([unread(session), closed])) !== 'closed') return session;
  }
}

/** Resolves with the headers of the first answer. */
function unread(session: ClientHttp2Session): Promise<unknown> {
  const requests = times(STREAMS, () =>
    session
      .request({ ':path': '/api/me', authorization: `Bearer ${account.token}` })
      .on('error', () => undefined),
  );
  return Promise.race(requests.map((request) => new Promise((done) => request.once('response', done))));
}

it('keeps operators, documentation and readiness inside, in whatever way their path is written', async () => {
  const [inside, outside] = [clientAt(INSIDE), clientAt(OTHER)];
  const paths = [
    '/api/operators/status',
    '/%61pi/%6Fperators/status?x=1',
    '/docs',
    '/%64ocs/',
    '/openapi.json',
    '/openapi/clients.json',
    '/health/ready',
    '/health/%72eady',
  ];
  for (const path of paths) {
    const hidden = await answer(outside, path);
    expect({ status: hidden.status, body: JSON.parse(hidden.body) as object }, path).toMatchObject({
      status: 404,
      body: { code: 'not_found', requestId: expect.stringMatching(/^[\da-f-]{36}$/) },
    });
    // 302: the page of the documentation is at another path; 403: the account is not an operator's.
    expect([200, 302, 403], path).toContain((await answer(inside, path)).status);
  }
  for (const path of ['/health/live', '/.well-known/jwks.json', '/api/me']) {
    expect((await answer(outside, path)).status, path).toBe(200);
  }
  inside.close();
  outside.close();
});

it.each([
  ['the id of the balancer', undefined, /^[\da-f-]{36}$/],
  ['the id of the client', 'order-4711:ada', /^order-4711:ada$/],
  ['the id of the balancer instead of one that the service would refuse', 'not one word', /^[\da-f-]{36}$/],
])('gives a request one id in both logs: %s', async (_which, sent, expected) => {
  const client = clientAt(OTHER);
  const { headers } = await answer(client, '/api/me', sent === undefined ? {} : { 'X-Request-Id': sent });
  client.close();

  const id = String(headers['x-request-id']);
  expect(id).toMatch(expected);
  await waitFor('both have logged the request', hangTimeoutMs(), () =>
    [balancer.logTail(), instance.logs.join('\n')].every((log) => log.includes(id)),
  );
});

it('answers on an open connection after the hook of the docs has reloaded it with a renewed certificate', async () => {
  const [, commands] = /## Renew certificates[^]*?```sh\n(#!\/bin\/sh\n[^]*?)```/.exec(
    readFileSync('docs/operate.md', 'utf8'),
  )!;
  const renewed = await authority.issue('DNS:localhost,IP:127.0.0.1,DNS:renewed');
  const lineage = temporaryDirectory('lineage');
  copyFileSync(renewed.certificate, join(lineage, 'fullchain.pem'));
  copyFileSync(renewed.key, join(lineage, 'privkey.pem'));
  const hook = commands!
    .replaceAll('/etc/letsencrypt/live/accounts.example.com', lineage)
    .replaceAll('/etc/haproxy/', `${balancer.directory}/`)
    .replace('systemctl reload haproxy', `kill -USR2 ${balancer.pid}`);
  const kept = await aTlsConnection();
  expect(await askOn(kept)).toMatch(/^HTTP\/1.1 200 /);

  for (const RENEWED_LINEAGE of ['/etc/letsencrypt/live/other.example.com', lineage]) {
    const env = { ...process.env, RENEWED_LINEAGE };
    expect(spawnSync('sh', ['-c', hook], { encoding: 'utf8', env })).toMatchObject({ status: 0, stderr: '' });
  }
  await waitFor('the old process has left the port to the new one', hangTimeoutMs(), () =>
    /Proxy accounts stopped/.test(balancer.logTail()),
  );
  const fresh = await aTlsConnection();

  expect(fresh.getPeerCertificate().subjectaltname).toContain('DNS:renewed');
  expect(await askOn(kept)).toMatch(/^HTTP\/1.1 200 [^]*\r\nconnection: close\r\n/i);
  expect(await askOn(fresh)).not.toMatch(/\r\nconnection: close\r\n/i);
  kept.destroy();
  fresh.destroy();
});

async function aTlsConnection(): Promise<TLSSocket> {
  const socket = connectByTls({ host: '127.0.0.1', port, ca });
  await once(socket, 'secureConnect');
  return socket;
}

/** The answer, or '' if the connection was closed. */
async function askOn(socket: TLSSocket): Promise<string> {
  if (socket.destroyed || socket.readableEnded) return '';
  const answered = Promise.race([once(socket, 'data'), once(socket, 'close')]);
  socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [data] = (await answered) as [unknown];
  return Buffer.isBuffer(data) ? data.toString() : '';
}
