import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { examine } from '../support/doctor.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, anAccount } from '../support/personas.js';
import { type Environment, exitCode, spawnService, untilListening } from '../support/service-process.js';
import { Authority, type Certificate } from '../support/certificates.js';
import { report } from './support/figures.js';
import { startInstance } from './support/instance.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { removeDirectory, temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { waitFor } from '../../tooling/wait.js';
import { startWireTap, type WireTap } from './support/wire-tap.js';

const RECOVERY_MS = 10_000;

let ours: Authority;
let strange: Authority;
let certificates: Record<'localhost' | 'address' | 'other name' | 'strange', Certificate>;
/** What the server shows: copies of one of the certificates. */
let shown: Certificate;
let files: string;
let server: MariaDbServer;
let installation: Installation;
let tap: WireTap;

beforeAll(async () => {
  files = temporaryDirectory('tls');
  shown = { certificate: join(files, 'server.pem'), key: join(files, 'server.key') };
  [ours, strange] = await Promise.all([Authority.create('ours'), Authority.create('strange')]);
  certificates = {
    localhost: await ours.issue('DNS:localhost'),
    address: await ours.issue('IP:127.0.0.1'),
    'other name': await ours.issue('DNS:db.example.com'),
    strange: await strange.issue('DNS:localhost'),
  };
  copy('localhost');
  server = await MariaDbServer.start({ args: [`--ssl-cert=${shown.certificate}`, `--ssl-key=${shown.key}`] });
  installation = await anInstallation({ mariadbPort: server.port });
  tap = await startWireTap(server.port);
  await demandTls(true);
});

afterEach(async () => {
  tap.resets = false;
  await demandTls(true);
  await show('localhost');
});

afterAll(async () => {
  await demandTls(false);
  await installation.remove();
  await tap.close();
  await server.close();
  removeDirectory(files);
});

/** The server's own socket does not require TLS. */
async function asRoot(sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection({ socketPath: join(server.directory, 'socket'), user: 'root' });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    connection.destroy();
  }
}

const demandTls = (on: boolean) => asRoot(`SET GLOBAL require_secure_transport = ${on ? 'ON' : 'OFF'}`);

function copy(name: keyof typeof certificates): void {
  copyFileSync(certificates[name].certificate, shown.certificate);
  copyFileSync(certificates[name].key, shown.key);
}

async function show(name: keyof typeof certificates): Promise<void> {
  copy(name);
  await asRoot('FLUSH SSL');
}

function to(host: string, port = server.port): Environment {
  return { DATABASE_URL: `mysql://root@${host}:${port}${new URL(installation.db.url).pathname}` };
}

const verify = (authority: Authority): Environment => ({
  DATABASE_SSL: 'verify',
  DATABASE_SSL_CA: authority.certificate,
});

async function refusal(env: Environment): Promise<string> {
  const service = spawnService(installation.directory, { ...installation.env, ...env });
  expect(await exitCode(service), service.logs.join('\n')).toBe(1);
  expect(service.stderr).toHaveLength(1);
  return service.stderr[0]!;
}

async function statusAtAService(env: Environment): Promise<number> {
  const instance = await startInstance(installation, env);
  const someone = await anAccount(instance);
  const { status } = await someone.get('/api/me');
  await instance.stop();
  return status;
}

it('refuses to start without TLS when the server requires it, and says what to set', async () => {
  expect(await refusal({})).toMatch(/^DATABASE_URL: .*DATABASE_SSL/);
  report({ faults: 1, wrong: 0 });
});

it.each<[string, 'localhost' | 'address' | 'other name' | 'strange', () => Environment]>([
  ['required, whatever the certificate', 'strange', () => ({ ...to('127.0.0.1'), DATABASE_SSL: 'required' })],
  [
    'required, by the authority that is named, whatever the name',
    'other name',
    () => ({ ...to('localhost'), DATABASE_SSL: 'required', DATABASE_SSL_CA: ours.certificate }),
  ],
  ['verify, by name', 'localhost', () => ({ ...to('localhost'), ...verify(ours) })],
  ['verify, by address', 'address', () => ({ ...to('127.0.0.1'), ...verify(ours) })],
])('serves with %s', async (_what, certificate, env) => {
  await show(certificate);
  expect(await statusAtAService(env())).toBe(200);
  report({ faults: 1, wrong: 0 });
});

it.each<[string, 'localhost' | 'address' | 'other name' | 'strange', () => Environment, RegExp]>([
  ['by an unknown authority', 'localhost', () => ({ ...to('localhost'), ...verify(strange) }), /certificate/],
  [
    'by none of the usual authorities',
    'localhost',
    () => ({ ...to('localhost'), DATABASE_SSL: 'verify' }),
    /certificate/,
  ],
  [
    'by an unknown authority, though its name does not matter',
    'localhost',
    () => ({ ...to('localhost'), DATABASE_SSL: 'required', DATABASE_SSL_CA: strange.certificate }),
    /certificate/,
  ],
  ['for another name', 'other name', () => ({ ...to('localhost'), ...verify(ours) }), /does not match/],
  ['for another address', 'address', () => ({ ...to('localhost'), ...verify(ours) }), /does not match/],
  // What an address is checked for must not be the name that stands for a machine itself.
  [
    'for a name instead of the address',
    'localhost',
    () => ({ ...to('127.0.0.1'), ...verify(ours) }),
    /does not match/,
  ],
])('refuses to start at a server with a certificate %s', async (_what, certificate, env, reason) => {
  await show(certificate);
  const line = await refusal(env());
  expect(line).toMatch(/^DATABASE_SSL: /);
  expect(line).toMatch(reason);
  report({ faults: 1, wrong: 0 });
});

it('refuses to start when the server has no TLS', async () => {
  const plain = await MariaDbServer.start();
  try {
    const line = await refusal({ DATABASE_URL: plain.url, DATABASE_SSL: 'required' });
    expect(line).toMatch(/^DATABASE_SSL: /);
  } finally {
    await plain.close();
  }
  report({ faults: 1, wrong: 0 });
});

it('uses the next host when the certificate of the first is invalid', async () => {
  const plain = await MariaDbServer.start();
  try {
    const path = new URL(installation.db.url).pathname;
    const hosts = `127.0.0.1:${plain.port},localhost:${server.port}`;
    const env = { ...verify(ours), DATABASE_URL: `mysql://root@${hosts}${path}` };
    expect(await statusAtAService(env)).toBe(200);
  } finally {
    await plain.close();
  }
  report({ faults: 1, wrong: 0 });
});

it('sends nothing in clear text', async () => {
  await demandTls(false);
  const emails: Record<string, string> = {};
  for (const mode of ['off', 'required']) {
    const instance = await startInstance(installation, { ...to('127.0.0.1', tap.port), DATABASE_SSL: mode });
    const { email } = await anAccount(instance, mode);
    emails[mode] = email;
    await instance.stop();
  }

  expect(tap.hears(emails['off']!)).toBe(true);
  expect(tap.hears(emails['required']!)).toBe(false);
  report({ requests: 2, wrong: 0 });
});

it('answers 503 while the certificate of the server is invalid, and recovers', async () => {
  const instance = await startInstance(installation, { ...to('localhost'), ...verify(ours) });
  try {
    const someone = await anAccount(instance);

    await show('strange');
    await endConnections();
    const refused = await untilRefused(someone);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await instance.anyone.get('/health/live')).status).toBe(200);
    await waitFor('the log says why', RECOVERY_MS, async () => {
      // The first was refused for the connection that was closed, if that was noticed only by its statement.
      await someone.get('/api/me');
      return instance.logs.some((line) => line.includes('over TLS') && line.includes('certificate'));
    });

    await show('localhost');
    await waitFor('it serves again', RECOVERY_MS, async () => (await someone.get('/api/me')).status === 200);
  } finally {
    await instance.stop();
  }
  report({ faults: 1, wrong: 0 });
});

async function endConnections(): Promise<void> {
  const name = new URL(installation.db.url).pathname.slice(1);
  for (const { ID } of await asRoot(`SELECT ID FROM information_schema.processlist WHERE DB = '${name}'`)) {
    await asRoot(`KILL ${ID}`).catch(() => undefined);
  }
}

/** The next request detects the connection that was closed. */
function untilRefused(someone: Account) {
  return waitFor('a request is refused', RECOVERY_MS, async () => {
    const answer = await someone.get('/api/me');
    expect([200, 503]).toContain(answer.status);
    return answer.status === 503 && answer;
  });
}

it('waits for a server whose connections break before TLS is established', async () => {
  tap.resets = true;
  const service = spawnService(installation.directory, {
    ...installation.env,
    ...to('localhost', tap.port),
    ...verify(ours),
  });
  await waitFor('it waits', RECOVERY_MS, async () =>
    service.logs.some((line) => line.includes('waiting for the database')),
  );
  expect(service.child.exitCode).toBeNull();

  tap.resets = false;
  await untilListening(service);
  service.child.kill('SIGTERM');
  expect(await exitCode(service)).toBe(0);
  report({ faults: 1, wrong: 0 });
});

it('applies to the doctor, too', async () => {
  expect(await statusAtAService({ ...to('localhost'), ...verify(ours) })).toBe(200);
  const env = (authority: Authority) =>
    ({ ...to('localhost'), ...verify(authority) }) as Record<string, string>;

  expect(await examine(installation, env(ours))).toMatchObject({ code: 0 });
  expect(await examine(installation, env(strange))).toMatchObject({
    code: 2,
    errors: expect.stringMatching(/^DATABASE_SSL: [^\n]+\n$/),
  });
  report({ faults: 1, wrong: 0 });
});
