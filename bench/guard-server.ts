// Measures accounts-guard beside a bare node:http server: node bench/guard-server.ts [CHECKS]
// Accounts is a server in this process, so that only the checks cost the sidecar CPU time.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuMs, residentMib } from '../tooling/processes/usage.ts';
import { freePort } from '../client/src/free-port.ts';
import { median } from '../tooling/median.ts';

const CHECKS = Number(process.argv[2] ?? 100_000);
const SESSIONS = [1_000, 100_000];
const CONNECTIONS = 32;
const ROUNDS = 3;
const ISSUER = 'https://accounts.example.com';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const kid = 'bench';
const keys = [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }];
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const head = part({ alg: 'ES256', typ: 'at+jwt', kid });

function aToken(): string {
  const now = Math.floor(Date.now() / 1000);
  const times = { iat: now, exp: now + 86_400, auth_time: now };
  const ids = { sub: randomUUID(), sid: randomUUID(), login_sid: randomUUID(), jti: randomUUID() };
  const more = { iss: ISSUER, aud: 'billing', client_id: 'billing', amr: ['pwd'], epoch: 0 };
  const signed = `${head}.${part({ ...ids, ...times, ...more })}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

const answerJson = (response: ServerResponse, body: object): void => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
};
const accounts = createServer((incoming, response) => {
  const { pathname, searchParams } = new URL(incoming.url!, ISSUER);
  if (pathname === '/.well-known/jwks.json') return answerJson(response, { keys });
  if (pathname === '/api/events') {
    const answer = (): void => answerJson(response, { events: [], next: '0' });
    return void (searchParams.has('after') ? setTimeout(answer, 1_000) : answer());
  }
  let body = '';
  incoming.setEncoding('utf8').on('data', (text: string) => (body += text));
  incoming.on('end', () => {
    const token = new URLSearchParams(body).get('token')!;
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sub: string };
    const user = { username: `${claims.sub}@example.com`, email_verified: true };
    answerJson(response, { active: true, ...claims, ...user });
  });
});
await once(accounts.listen(0, '127.0.0.1'), 'listening');

const directory = mkdtempSync(join(tmpdir(), 'guard-server-'));
const secretFile = join(directory, 'secret');
writeFileSync(secretFile, 's');

interface Place {
  port?: number;
  socketPath?: string;
}
interface Program {
  child: ChildProcess;
  places: Record<'port' | 'socket', Place>;
}

async function start(name: string, args: string[], env: (port: number, path: string) => NodeJS.ProcessEnv) {
  const port = await freePort();
  const socketPath = join(directory, name);
  const options = { env: { PATH: process.env['PATH'], ...env(port, socketPath) }, stdio: 'ignore' as const };
  const child = spawn(process.execPath, args, options);
  return { child, places: { port: { port }, socket: { socketPath } } };
}

const MAIN = join(import.meta.dirname, '../client/src/guard/main.ts');
const startSidecar = (sessions: number): Promise<Program> =>
  start(`guard-${sessions}`, [MAIN], (port, path) => ({
    GUARD_LISTEN: `127.0.0.1:${port},unix:${path}`,
    GUARD_ISSUER: ISSUER,
    GUARD_URL: `http://127.0.0.1:${(accounts.address() as AddressInfo).port}`,
    GUARD_AUDIENCE: 'billing',
    GUARD_SERVICE: 'billing',
    GUARD_SECRET_FILE: secretFile,
  }));

/** Answers the bytes of a check. */
const BARE = `const { createServer } = require('node:http');
  const { status, headers, body } = JSON.parse(process.env.ANSWER);
  for (const place of [Number(process.env.PORT), process.env.SOCKET])
    createServer((_, response) => { response.writeHead(status, headers); response.end(body); }).listen(place);`;

interface Answered {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

function ask(place: Place, agent: Agent, token: string, path = '/check'): Promise<Answered> {
  return new Promise((answered, failed) => {
    const options = {
      host: '127.0.0.1',
      ...place,
      agent,
      path,
      headers: { authorization: `Bearer ${token}` },
    };
    const sent = request(options, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => (body += text));
      answer.on('end', () => answered({ status: answer.statusCode!, headers: answer.headers, body }));
    });
    sent.once('error', failed).end();
  });
}

async function askAll(place: Place, tokens: string[], count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const { status, body } = await ask(place, agent, tokens[next++ % tokens.length]!);
      if (status !== 200) throw new Error(`${status} ${body}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  agent.destroy();
}

/** Of the process that answers. */
async function checksPerCpuSecond({ child }: Program, place: Place, tokens: string[]): Promise<number> {
  const before = cpuMs([child.pid!])!;
  await askAll(place, tokens, CHECKS);
  return Math.round((CHECKS / (cpuMs([child.pid!])! - before)) * 1000);
}

async function untilAnswering(place: Place, path: string): Promise<void> {
  for (;;) {
    const answer = await ask(place, new Agent(), '', path).catch(() => undefined);
    if (answer?.status === 200) return;
    await new Promise((later) => setTimeout(later, 50));
  }
}

for (const sessions of SESSIONS) {
  const tokens = Array.from({ length: sessions }, aToken);
  const sidecar = await startSidecar(sessions);
  await untilAnswering(sidecar.places.port, '/health/ready');
  const restMib = Math.round(residentMib([sidecar.child.pid!])!);
  // Every session is known before.
  await askAll(sidecar.places.port, tokens, sessions);
  const example = await ask(sidecar.places.port, new Agent(), tokens[0]!);
  // Or the bare server would close each connection, as the answer to a client without keep-alive does.
  for (const name of ['connection', 'keep-alive', 'date']) delete example.headers[name];
  const bare = await start(`bare-${sessions}`, ['-e', BARE], (port, path) => ({
    PORT: String(port),
    SOCKET: path,
    ANSWER: JSON.stringify(example),
  }));
  await untilAnswering(bare.places.port, '/');
  for (const kind of ['port', 'socket'] as const) {
    const rates = { sidecar: [] as number[], bare: [] as number[] };
    // In turns, so that both see the same load of the machine.
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.bare.push(await checksPerCpuSecond(bare, bare.places[kind], tokens));
      rates.sidecar.push(await checksPerCpuSecond(sidecar, sidecar.places[kind], tokens));
    }
    const ratio = Number((median(rates.sidecar)! / median(rates.bare)!).toFixed(2));
    const mib = Math.round(residentMib([sidecar.child.pid!])!);
    console.log(JSON.stringify({ sessions, kind, checksPerCpuSecond: rates, ratio, restMib, mib }));
  }
  for (const { child } of [sidecar, bare]) child.kill('SIGKILL');
}
accounts.closeAllConnections();
accounts.close();
rmSync(directory, { recursive: true });
