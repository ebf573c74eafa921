// Measures the guard of accounts-client alone: node --expose-gc bench/guard.ts [SESSIONS]
// Answers come without a network, so the figures are those of the guard.
import { generateKeyPair, randomUUID, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { percentile } from '../tooling/percentile.ts';
import { apiKeyOf } from '../client/src/service/api-key-form.ts';
import { createGuard, type Guard } from '../client/src/service/index.ts';

const SESSIONS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 5;
const AT_ONCE = 64;
const ISSUER = 'https://accounts.example.com';
const ANSWER_MS = 5;
const PENDING = 1_000;
/** 500 requests a second whose revision has not come. */
const BETWEEN_MS = 2;
const MIB = 2 ** 20;

const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
const kid = 'K1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R9s0T1u';
const keys = [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }];
const json = (body: object): Response =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const head = part({ alg: 'ES256', typ: 'at+jwt', kid });
const now = Math.floor(Date.now() / 1000);

/** Tokens of a hand-off, and those that two services handed on from there. */
const KINDS = {
  plain: { client_id: 'billing' },
  handedOn: {
    client_id: 'orders',
    act: { sub: 'service:orders', act: { sub: 'service:shop' } },
    via_epoch: 7,
  },
};
type Kind = keyof typeof KINDS | 'key';

function aToken(kind: Kind): string {
  if (kind === 'key') return apiKeyOf(randomUUID().replaceAll('-', '').padEnd(43, 'k'));
  const times = { iat: now, exp: now + 86_400, auth_time: now };
  const ids = { sub: randomUUID(), sid: randomUUID(), login_sid: randomUUID(), jti: randomUUID() };
  const more = { ...KINDS[kind], amr: ['pwd'], epoch: 0 };
  const signed = `${head}.${part({ iss: ISSUER, aud: 'billing', ...ids, ...times, ...more })}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

async function accounts(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input);
  if (pathname === '/.well-known/jwks.json') return json({ keys });
  if (pathname === '/api/auth/introspect') {
    const token = new URLSearchParams(init!.body as string).get('token')!;
    if (token.startsWith('ack_')) return json(keyAnswer());
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sub: string };
    const email = `${claims.sub}@example.com`;
    return json({ active: true, ...claims, username: email, email_verified: true });
  }
  if (pathname === '/api/memberships') {
    await new Promise((done) => setTimeout(done, ANSWER_MS));
    const [orgId, userId] = [searchParams.get('orgId'), searchParams.get('userId')];
    return json({ memberships: [{ orgId, userId, role: 'member', orgRevision: 1 }] });
  }
  if (searchParams.has('after')) await new Promise((done) => setTimeout(done, 1_000).unref());
  return json({ events: [], next: '0' });
}

function keyAnswer(): object {
  const claims = {
    iss: ISSUER,
    aud: 'billing',
    client_id: 'billing',
    sub: randomUUID(),
    iat: now,
    exp: now + 86_400,
  };
  const key = { id: randomUUID(), role: 'member', org: null };
  return { active: true, ...claims, username: `${claims.sub}@example.com`, email_verified: true, key };
}

async function liveMiB(): Promise<number> {
  for (let time = 0; time < 2; time += 1) {
    await new Promise((turn) => setImmediate(turn));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MIB;
}

/** A server receives each header as another string, so that the tokens are kept apart from those of the guard. */
function headersOf(kind: Kind): (index: number) => string {
  const all = Array.from({ length: SESSIONS }, () => `Bearer ${aToken(kind)}`);
  const headers = Buffer.from(all.join('\n'), 'latin1');
  const size = headers.indexOf('\n') + 1;
  return (index) => headers.toString('latin1', index * size, index * size + size - 1);
}

const headers = { plain: headersOf('plain'), handedOn: headersOf('handedOn'), key: headersOf('key') };
const header = headers.plain;
const credentials = { name: 'billing', secret: 's' };
const aGuard = (): Guard =>
  createGuard({ issuer: ISSUER, audience: 'billing', credentials, fetch: accounts });

const authorizeAll = async (
  by: Guard,
  headerAt: (index: number) => string,
  from = 0,
  step = 1,
  options?: { keys: true },
): Promise<void> => {
  for (let index = from; index < SESSIONS; index += step) {
    const answer = await (options ? by.authorize(headerAt(index), options) : by.authorize(headerAt(index)));
    if (!answer.ok) throw new Error(JSON.stringify(answer));
  }
};
/** @returns how much more memory is live than before, in MiB */
async function fill(by: Guard, kind: Kind): Promise<number> {
  const before = await liveMiB();
  await Promise.all(
    Array.from({ length: AT_ONCE }, (_, from) =>
      authorizeAll(by, headers[kind], from, AT_ONCE, { keys: true }),
    ),
  );
  return (await liveMiB()) - before;
}

const guards = { plain: aGuard(), handedOn: aGuard(), key: aGuard() };
const guard = guards.plain;
const mib = {
  plain: await fill(guard, 'plain'),
  handedOn: await fill(guards.handedOn, 'handedOn'),
  key: await fill(guards.key, 'key'),
  growth: 0,
};
const full = await liveMiB();
/** At routes for tokens alone, and at routes that also admit API keys. */
const ROWS: { name: string; kind: Kind; options?: { keys: true } }[] = [
  { name: 'plain', kind: 'plain' },
  { name: 'handedOn', kind: 'handedOn' },
  { name: 'plain or key', kind: 'plain', options: { keys: true } },
  { name: 'key', kind: 'key', options: { keys: true } },
];
const rates: Record<string, number[]> = {};
// In turns, so that all kinds see the same load of the machine.
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { name, kind, options } of ROWS) {
    const begun = process.cpuUsage();
    await authorizeAll(guards[kind], headers[kind], 0, 1, options);
    const { user, system } = process.cpuUsage(begun);
    (rates[name] ??= []).push(Math.round(SESSIONS / ((user + system) / 1e6)));
  }
}
mib.growth = (await liveMiB()) - full;

// A revision that never comes is the worst case: the guard waits for the feed, and then asks.
const pendingMs: number[] = [];
const orgId = randomUUID().replace(/^(.{14})./, '$17');
// Each membership is known before, as in a service that runs.
for (let index = 0; index < PENDING; index += 1) await guard.authorize(header(index), { orgId });
const pend = async (index: number): Promise<void> => {
  await new Promise((done) => setTimeout(done, index * BETWEEN_MS));
  const begun = performance.now();
  const answer = await guard.authorize(header(index), { orgId, atLeast: 2 });
  if (!answer.ok) throw new Error(JSON.stringify(answer));
  pendingMs.push(performance.now() - begun);
};
await Promise.all(Array.from({ length: PENDING }, (_, index) => pend(index)));
const p99 = Math.round(percentile(pendingMs, 0.99));
console.log(JSON.stringify({ sessions: SESSIONS, tokensPerCpuSecond: rates, mib, pendingP99Ms: p99 }));
await Promise.all(Object.values(guards).map((one) => one.close()));
