import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { jsonRequest, keptAliveRequest, openConnection } from '../support/open-connection.js';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { startService } from '../support/service.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

// A hash takes ten milliseconds and more, so that the service sees the client leave before it has the answer. With one
// that takes half a second, as it may on a busy machine, the queue refuses requests before it sees anybody leave.
const SLOWER_HASHES = { ARGON2_MEMORY_KIB: '19456', RATE_LIMIT_REGISTER: 'off' };

interface Line {
  msg: string;
  requestId: string;
  route?: string;
  status: number;
  aborted?: boolean;
  dryRun?: boolean;
  replayed?: boolean;
}

const service = await startService({ env: SLOWER_HASHES });
afterAll(() => service.stop());

describe('the log of requests', () => {
  let begin: number;
  beforeEach(() => {
    begin = service.logs.length;
  });

  /** of this test; its own reading of the API's description is left out */
  const lines = (): Line[] =>
    service.logs
      .slice(begin)
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg, route }) => msg === 'request' && route !== '/openapi.json');

  const aRegistration = (): string => {
    const credentials = { email: anEmail(), password: aPassword() };
    service.installation.secrets.note(credentials.password);
    return jsonRequest('POST /api/auth/register', credentials);
  };
  const accounts = async (): Promise<number> => (await service.db.query('SELECT id FROM users')).length;

  /** The service finds what is sent meanwhile together with the end of the connection. */
  async function whileStopped(send: () => Promise<unknown>): Promise<void> {
    const [, pid] = /"msg":"listening".*"pid":(\d+)/.exec(service.logs.join('\n')) ?? [];
    process.kill(Number(pid), 'SIGSTOP');
    try {
      await send();
    } finally {
      process.kill(Number(pid), 'SIGCONT');
    }
  }

  async function untilLogged(count: number): Promise<void> {
    await vi.waitFor(() => expect(lines().length).toBeGreaterThanOrEqual(count), hangTimeoutMs());
  }

  /** What was logged twice stands in the log before the line of a later request. */
  async function allLines(): Promise<Line[]> {
    const { body } = await service.anyone.get<{ requestId: string }>('/api/nothing');
    const last = expect.objectContaining({ requestId: body.requestId });
    await vi.waitFor(() => expect(lines()).toContainEqual(last), hangTimeoutMs());
    return lines().filter(({ requestId }) => requestId !== body.requestId);
  }

  it.each([
    ['on connections of their own', 5, 1],
    ['pipelined on one connection', 1, 5],
  ])(
    'has one line for each of five registrations whose client disconnected, %s',
    async (_how, count, each) => {
      const before = await accounts();
      const connections = await Promise.all(times(count, () => openConnection(service.url)));
      await whileStopped(() =>
        Promise.all(
          connections.map(({ socket }) => {
            socket.end(times(each, aRegistration).join(''));
            return once(socket, 'finish');
          }),
        ),
      );
      await untilLogged(5);

      const logged = await allLines();
      const line = { method: 'POST', route: '/api/auth/register', aborted: true, ip: '127.0.0.1' };
      expect(logged).toEqual(times(5, () => expect.objectContaining(line)));
      expect(new Set(logged.map(({ requestId }) => requestId)).size).toBe(5);
      // Requests that still waited for a hash were dropped.
      const done = logged.filter(({ status }) => status !== 503);
      expect(done).toEqual(done.map(() => expect.objectContaining({ status: 201 })));
      expect(await accounts()).toBe(before + done.length);
      expect(done).not.toEqual([]);
    },
  );

  it.each<[string, (socket: Socket) => unknown]>([
    ['closes its side', (socket) => socket.end()],
    ['resets the connection', (socket) => socket.resetAndDestroy()],
  ])('has one line for a body in the middle of which the client %s', async (_what, leave) => {
    const before = await accounts();
    const { socket, text } = await openConnection(service.url);
    const [head, body] = aRegistration().split('\r\n\r\n') as [string, string];
    socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`);
    await vi.waitFor(() => expect(text()).toContain('100 Continue'), hangTimeoutMs());
    socket.write(body.slice(0, -1), () => leave(socket));
    await untilLogged(1);

    expect(await allLines()).toEqual([
      expect.objectContaining({ route: '/api/auth/register', status: 400, aborted: true }),
    ]);
    expect(await accounts()).toBe(before);
  });

  it('has one line for each answer that was cut off', async () => {
    const { socket } = await openConnection(service.url);
    socket.once('data', () => socket.resetAndDestroy());
    // Far more than the system buffers for a client that reads nothing.
    socket.write(keptAliveRequest('GET /docs/swagger-ui-bundle.js').repeat(20));
    await untilLogged(20);

    const logged = await allLines();
    expect(logged.map(({ status }) => status)).toEqual(times(20, () => 200));
    expect(logged.at(-1)).toMatchObject({ aborted: true });
  });

  it.runIf(engine === 'mariadb')('names the user although the client disconnected', async () => {
    const ada = await anAccount(service, 'ada');
    const locker = await createConnection(service.db.url);
    await locker.query('LOCK TABLES orgs WRITE');
    const { socket, closed } = await openConnection(service.url);
    socket.end(jsonRequest('POST /api/orgs', { name: 'Engines' }, [`Authorization: Bearer ${ada.token}`]));
    await closed;
    await locker.query('UNLOCK TABLES');
    await locker.end();
    await untilLogged(2);

    expect((await allLines()).at(-1)).toMatchObject({ userId: ada.id, status: 201, aborted: true });
  });

  it('tells changes from dry runs of them, and from repeated answers', async () => {
    const ada = await anAccount(service);
    const { org } = (await ada.post<{ org: { id: string } }>('/api/orgs', { name: 'Engines' })).body;
    const by = ada.with({ 'idempotency-key': 'once' });

    for (const query of ['?dryRun=true', '', '']) {
      await by.patch(`/api/orgs/${org.id}/members/${ada.id}${query}`, { role: 'owner' });
    }

    const told = (await allLines())
      .slice(-3)
      .map(({ status, dryRun, replayed }) => [status, dryRun, replayed]);
    expect(told).toEqual([
      [200, true, undefined],
      [200, undefined, undefined],
      [200, undefined, true],
    ]);
  });

  it('does not say aborted when the client stayed', async () => {
    await anAccount(service);

    const [line, ...more] = await allLines();
    expect(line).toMatchObject({ route: '/api/auth/register', status: 201 });
    expect(line).not.toHaveProperty('aborted');
    expect(more).toEqual([]);
  });

  const chunked = ['Transfer-Encoding: chunked', 'Content-Type: application/json'];
  it.each([
    ['no HTTP', 400, 'nonsense\r\n\r\n'],
    ['CONNECT', 400, keptAliveRequest('CONNECT /api/me')],
    ['a target without a path', 404, keptAliveRequest('OPTIONS *', ['Connection: close'])],
    ['a path that cannot be decoded', 400, keptAliveRequest('GET /%zz', ['Connection: close'])],
    ['a body in bad chunks', 400, keptAliveRequest('POST /api/auth/login', chunked, 'zz\r\n')],
    ['headers that are too large', 431, keptAliveRequest('GET /', [`X-Large: ${'x'.repeat(20_000)}`])],
    [
      'an odd expectation',
      200,
      keptAliveRequest('GET /.well-known/jwks.json', ['Expect: x', 'Connection: close']),
    ],
  ])('has one line for %s, with the id that the answer names', async (_what, status, bytes) => {
    const { socket, closed, statuses } = await openConnection(service.url);
    socket.write(bytes);
    const answer = await closed;
    expect(statuses()).toEqual([status]);

    const [line, ...more] = await allLines();
    expect(line).toMatchObject({ status, ip: '127.0.0.1' });
    expect(line).not.toHaveProperty('aborted');
    expect(answer).toContain(line!.requestId);
    expect(more).toEqual([]);
  });

  it('has none for a connection without a request', async () => {
    const { socket, closed } = await openConnection(service.url);
    socket.end();
    await closed;

    expect(await allLines()).toEqual([]);
  });
});
