import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { waitFor } from '../../tooling/wait.js';
import { Authority } from '../support/certificates.js';
import { examine } from '../support/accounts-command.js';
import { anAccount } from '../support/personas.js';
import { exitCode, spawnService, untilListening } from '../support/service-process.js';
import { closeAfterAll, closeAfterTest, startInstance, Storage } from './support/deployment.js';
import { report } from './support/figures.js';
import { startWireTap } from './support/tcp-proxy.js';

const RECOVERY_MS = 10_000;

const [ours, strange] = await Promise.all([Authority.create('ours'), Authority.create('strange')]);
const certificates = {
  localhost: await ours.issue('DNS:localhost'),
  address: await ours.issue('IP:127.0.0.1'),
  'other name': await ours.issue('DNS:db.example.com'),
  strange: await strange.issue('DNS:localhost'),
};
type Name = keyof typeof certificates;

/** What the server shows: copies of one of the certificates. */
const files = temporaryDirectory('tls');
const shown = { certificate: join(files, 'server.pem'), key: join(files, 'server.key') };
copy('localhost');
const args = [`--ssl-cert=${shown.certificate}`, `--ssl-key=${shown.key}`];
const { installation, server } = await closeAfterAll(Storage.on('mariadb', { args }));
const tap = await closeAfterAll(startWireTap(server.port));
const name = new URL(installation.db.url).pathname.slice(1);

beforeAll(() => demandTls(true));
afterEach(async () => {
  tap.resets = false;
  await demandTls(true);
  await show('localhost');
  report({ faults: 1, wrong: 0 });
});
afterAll(() => demandTls(false));

/** The server's own socket does not require TLS. */
async function asRoot(sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection({ socketPath: join(server.directory, 'socket'), user: 'root' });
  try {
    return (await connection.query<RowDataPacket[]>(sql))[0];
  } finally {
    connection.destroy();
  }
}

const demandTls = (on: boolean): Promise<unknown> =>
  asRoot(`SET GLOBAL require_secure_transport = ${on ? 'ON' : 'OFF'}`);

function copy(which: Name): void {
  copyFileSync(certificates[which].certificate, shown.certificate);
  copyFileSync(certificates[which].key, shown.key);
}

async function show(which: Name): Promise<void> {
  copy(which);
  await asRoot('FLUSH SSL');
}

const to = (host: string, port = server.port) => ({ DATABASE_URL: `mysql://root@${host}:${port}/${name}` });
const verify = ({ certificate }: Authority) => ({ DATABASE_SSL: 'verify', DATABASE_SSL_CA: certificate });
const required = (authority: Authority) => ({ ...verify(authority), DATABASE_SSL: 'required' });
const spawn = (env: Record<string, string>) =>
  spawnService(installation.directory, { ...installation.env, ...env });

async function refusal(env: Record<string, string>): Promise<string> {
  const service = spawn(env);
  expect(await exitCode(service), service.logs.join('\n')).toBe(1);
  expect(service.stderr).toHaveLength(1);
  return service.stderr[0]!;
}

async function expectService(env: Record<string, string>): Promise<void> {
  const instance = await startInstance(installation, env);
  expect((await (await anAccount(instance)).get('/api/me')).status).toBe(200);
  await instance.stop();
}

it('refuses to start without TLS when the server requires it, and says what to set', async () => {
  expect(await refusal({})).toMatch(/^DATABASE_URL: .*DATABASE_SSL/);
});

it.each<[what: string, shown: Name, host: string, ssl: Record<string, string>]>([
  ['required, whatever the certificate', 'strange', '127.0.0.1', { DATABASE_SSL: 'required' }],
  ['required, by the authority that is named, whatever the name', 'other name', 'localhost', required(ours)],
  ['verify, by name', 'localhost', 'localhost', verify(ours)],
  ['verify, by address', 'address', '127.0.0.1', verify(ours)],
])('serves with %s', async (_what, certificate, host, ssl) => {
  await show(certificate);
  await expectService({ ...to(host), ...ssl });
});

it.each<[what: string, shown: Name, host: string, ssl: Record<string, string>, reason: RegExp]>([
  ['by an unknown authority', 'localhost', 'localhost', verify(strange), /certificate/],
  ['by none of the usual authorities', 'localhost', 'localhost', { DATABASE_SSL: 'verify' }, /certificate/],
  ['by an unknown authority, of any name', 'localhost', 'localhost', required(strange), /certificate/],
  ['for another name', 'other name', 'localhost', verify(ours), /does not match/],
  ['for another address', 'address', 'localhost', verify(ours), /does not match/],
  // What an address is checked for must not be the name that stands for a machine itself.
  ['for a name instead of the address', 'localhost', '127.0.0.1', verify(ours), /does not match/],
])('refuses to start at a server with a certificate %s', async (_what, certificate, host, ssl, reason) => {
  await show(certificate);
  const line = await refusal({ ...to(host), ...ssl });
  expect(line).toMatch(/^DATABASE_SSL: /);
  expect(line).toMatch(reason);
});

it('refuses to start when the server has no TLS', async () => {
  const plain = await closeAfterTest(MariaDbServer.start());
  const line = await refusal({ DATABASE_URL: plain.url, DATABASE_SSL: 'required' });
  expect(line).toMatch(/^DATABASE_SSL: /);
});

it('uses the next host when the certificate of the first is invalid', async () => {
  const plain = await closeAfterTest(MariaDbServer.start());
  const hosts = `127.0.0.1:${plain.port},localhost:${server.port}`;
  await expectService({ ...verify(ours), DATABASE_URL: `mysql://root@${hosts}/${name}` });
});

it('sends nothing in clear text', async () => {
  await demandTls(false);
  const heard: boolean[] = [];
  for (const mode of ['off', 'required']) {
    const instance = await startInstance(installation, { ...to('127.0.0.1', tap.port), DATABASE_SSL: mode });
    const { email } = await anAccount(instance, mode);
    await instance.stop();
    heard.push(tap.hears(email));
  }
  expect(heard).toEqual([true, false]);
});

it('answers 503 while the certificate of the server is invalid, and recovers', async () => {
  const env = { ...to('localhost'), ...verify(ours) };
  const instance = await closeAfterTest(startInstance(installation, env));
  const someone = await anAccount(instance);

  await show('strange');
  for (const { ID } of await asRoot(`SELECT ID FROM information_schema.processlist WHERE DB = '${name}'`))
    await asRoot(`KILL ${ID}`).catch(() => undefined);
  // The next request detects the connection that was closed.
  const refused = await waitFor('a request is refused', RECOVERY_MS, async () => {
    const answer = await someone.get('/api/me');
    expect([200, 503]).toContain(answer.status);
    return answer.status === 503 && answer;
  });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await instance.anyone.get('/health/live')).status).toBe(200);
  await waitFor('the log says why', RECOVERY_MS, async () => {
    // The first was refused for the connection that was closed, if that was noticed only by its statement.
    await someone.get('/api/me');
    return instance.logs.some((line) => line.includes('over TLS') && line.includes('certificate'));
  });

  await show('localhost');
  await waitFor('it serves again', RECOVERY_MS, async () => (await someone.get('/api/me')).status === 200);
});

it('waits for a server whose connections break before TLS is established', async () => {
  tap.resets = true;
  const service = spawn({ ...to('localhost', tap.port), ...verify(ours) });
  const waits = () => service.logs.some((line) => line.includes('waiting for the database'));
  await waitFor('it waits', RECOVERY_MS, waits);
  expect(service.child.exitCode).toBeNull();

  tap.resets = false;
  await untilListening(service);
  service.child.kill('SIGTERM');
  expect(await exitCode(service)).toBe(0);
});

it('applies to the doctor, too', async () => {
  await expectService({ ...to('localhost'), ...verify(ours) });
  const examined = (authority: Authority) =>
    examine(installation, { ...to('localhost'), ...verify(authority) });
  expect(await examined(ours)).toMatchObject({ code: 0 });
  const errors: unknown = expect.stringMatching(/^DATABASE_SSL: [^\n]+\n$/);
  expect(await examined(strange)).toMatchObject({ code: 2, errors });
});
