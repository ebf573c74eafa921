import { connect } from 'node:net';
import { createConnection } from 'mysql2/promise';
import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { emailTaken, memberNotFound, unavailable, unsupportedMediaType } from '../support/expected.js';
import {
  jsonRequest,
  keptAliveRequest,
  openConnection,
  requestBytes,
  sendBytes,
} from '../support/connections.js';
import { anEmail, anOrg, aPassword } from '../support/personas.js';
import { startOwnService, startService } from '../support/service.js';
import { holdRows } from '../support/held-rows.js';

const service = await startService();

describe('broken HTTP', () => {
  it.each<[string, number, string]>([
    ['no HTTP at all', 400, 'nonsense\r\n\r\n'],
    ['binary', 400, '\u0016\u0003\u0001\u0000\u0000\r\n\r\n'],
    ['another version', 400, 'GET /api/me HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['no path', 400, 'GET  HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no Host', 400, 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Hosts', 400, requestBytes('GET /health/live', ['Host: elsewhere'])],
    ['a bad header line', 400, requestBytes('GET /health/live', ['no colon here'])],
    ['a space before the colon', 400, requestBytes('GET /health/live', ['X-Odd : x'])],
    ['NUL in a header', 400, requestBytes('GET /health/live', ['X-Odd: a\u0000b'])],
    ['a folded header', 400, requestBytes('GET /health/live', ['X-Odd: a', ' b'])],
    ['headers of 20 kB', 431, requestBytes('GET /health/live', [`X-Large: ${'x'.repeat(20_000)}`])],
    ['a path of 20 kB', 431, requestBytes(`GET /${'x'.repeat(20_000)}`)],
    [
      '5,000 headers',
      431,
      requestBytes(
        'GET /health/live',
        times(5000, (index) => `X-${index}: x`),
      ),
    ],
    ['a negative length', 400, requestBytes('POST /api/auth/login', ['Content-Length: -1'])],
    ['a length that is no number', 400, requestBytes('POST /api/auth/login', ['Content-Length: x'])],
    [
      'two lengths',
      400,
      requestBytes('POST /api/auth/login', ['Content-Length: 2', 'Content-Length: 3'], '{}'),
    ],
    [
      'a length and chunks',
      400,
      requestBytes('POST /api/auth/login', ['Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    ],
    [
      'bad chunks',
      400,
      requestBytes(
        'POST /api/auth/login',
        ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
        'zz\r\n{}\r\n',
      ),
    ],
  ])('%s is answered %i in the one error shape, or not at all', async (_what, status, bytes) => {
    const answer = await sendBytes(service, bytes);
    expect(answer?.status ?? 'hung up', answer?.text).toBeOneOf([status, 'hung up']);
    expect((await service.anyone.get('/health/live')).status).toBe(200);
  });

  it('answers most of it with a problem instead of disconnecting', async () => {
    const answers = await Promise.all(
      ['nonsense\r\n\r\n', requestBytes('GET /health/live', [`X-Large: ${'x'.repeat(20_000)}`])].map(
        (bytes) => sendBytes(service, bytes),
      ),
    );
    expect(answers.map((answer) => answer?.status)).toEqual([400, 431]);
  });

  it('refuses an unknown transfer encoding', async () => {
    const answer = await sendBytes(
      service,
      requestBytes('POST /api/auth/login', ['Transfer-Encoding: odd'], '{}'),
    );
    expect(answer).toMatchObject(unsupportedMediaType);
  });

  it('survives clients that disconnect at any moment', async () => {
    const { port, hostname } = new URL(service.url);
    const request = requestBytes(
      'POST /api/auth/login',
      ['Content-Type: application/json', 'Content-Length: 47'],
      '{"email":"a@example.com","password":"longenough"}',
    );
    await Promise.all(
      times(60, (cut) => {
        const bytes = request.slice(0, Math.ceil((request.length * cut) / 60));
        return new Promise<void>((done) => {
          const socket = connect(Number(port), hostname, () =>
            socket.write(bytes, () => socket.resetAndDestroy()),
          );
          socket.on('error', () => undefined);
          socket.on('close', () => done());
        });
      }),
    );
    expect((await service.anyone.get('/health/live')).status).toBe(200);
    expect((await service.anyone.get('/health/ready')).status).toBe(200);
  });

  describe('after a valid request', () => {
    const GARBAGE = 'nonsense\r\n\r\n';
    const aRegistration = () => jsonRequest('POST /api/auth/register', credentials());
    const credentials = () => ({ email: anEmail(), password: aPassword() });

    it.each([
      ['one', 1],
      ['three', 3],
    ])('is answered after the answers to %s of them', async (_count, count) => {
      const { socket, statuses, closed } = await openConnection(service.url);
      socket.write(times(count, aRegistration).join('') + GARBAGE);
      expect(await closed).toMatch(/"code":"bad_request"[^}]*}$/);
      expect(statuses()).toEqual([...times(count, () => 201), 400]);
    });

    it('is ignored when that request closes the connection', async () => {
      const { socket, statuses, closed } = await openConnection(service.url);
      socket.write(jsonRequest('POST /api/auth/register', credentials(), ['Connection: close']) + GARBAGE);
      await closed;
      expect(statuses()).toEqual([201]);
    });

    it('affects only the request that it belongs to', async () => {
      const { socket, statuses, closed } = await openConnection(service.url);
      const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
      socket.write(aRegistration() + keptAliveRequest('POST /api/auth/login', chunked, 'zz\r\n'));
      await closed;
      expect(statuses()).toEqual([201, 400]);
    });

    it('costs only its own connection, however much of it arrives', async () => {
      const { socket, statuses, closed } = await openConnection(service.url);
      socket.on('drain', () => socket.write(GARBAGE.repeat(4000)));
      socket.write(aRegistration() + GARBAGE.repeat(4000));
      expect((await service.anyone.get('/health/live')).status).toBe(200);
      await closed;
      expect(statuses()).toEqual([201, 400]);
    });

    it.runIf(engine === 'mariadb')('waits for an answer up to the deadline', async () => {
      const locker = await createConnection(service.db.url);
      await locker.query('LOCK TABLES users WRITE');
      const { socket, statuses, closed } = await openConnection(service.url);
      socket.write(aRegistration() + GARBAGE);
      await closed;
      await locker.query('UNLOCK TABLES');
      await locker.end();
      expect(statuses()).toEqual([503, 400]);
    });
  });

  it('disconnects slow clients eventually', async () => {
    const slowHeaders = 'GET /health/live HTTP/1.1\r\nHost: x\r\nX-Slow: ';
    const slowBody = requestBytes(
      'POST /api/auth/login',
      ['Content-Type: application/json', 'Content-Length: 9'],
      '{',
    );
    const answers = await Promise.all([sendBytes(service, slowHeaders), sendBytes(service, slowBody)]);
    expect(answers.map((answer) => answer?.status)).toEqual([408, 408]);
  });
});

describe('a request that is sent again', () => {
  it('after a lost answer to a registration finds the account created', async () => {
    const credentials = { email: anEmail(), password: aPassword() };
    service.installation.secrets.note(credentials.password);
    await sendAndHangUp(credentials);
    expect(await service.anyone.post('/api/auth/register', credentials)).toMatchObject(emailTaken);
    expect((await service.anyone.post('/api/auth/login', credentials)).status).toBe(200);
  });

  it('finds a member removed and a role set', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const remove = () => owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
    const demote = () => owner.patch(`/api/orgs/${org.id}/members/${admin.id}`, { role: 'member' });
    expect([(await remove()).status, (await demote()).status, (await demote()).status]).toEqual([
      200, 200, 200,
    ]);
    expect(await remove()).toMatchObject(memberNotFound);
  });

  /**
   * Disconnects at the first byte of the answer: the service has done its work and the client does not know.
   */
  function sendAndHangUp(body: object): Promise<void> {
    const { port, hostname } = new URL(service.url);
    const json = JSON.stringify(body);
    const head = ['Content-Type: application/json', `Content-Length: ${json.length}`];
    return new Promise((done, failed) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(requestBytes('POST /api/auth/register', head, json)),
      );
      socket.once('data', () => socket.resetAndDestroy());
      socket.once('error', failed);
      socket.once('close', () => done());
    });
  }
});

describe('health', async () => {
  // Shared instances have limits and no Redis, so that several of them are degraded after minutes.
  const own = await startOwnService();
  afterAll(() => own.stop());

  it.each(['/health/live', '/health/ready'])('%s answers 200, and reveals no internals', async (path) => {
    const answer = await own.anyone.get(path);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'ok' });
    expect(answer.text).not.toMatch(/\d|sqlite|mysql|mariadb|localhost|password|version/i);
  });
});

describe('the deadline of an answer', () => {
  it('holds while a write waits for a lock repeatedly, for longer than the deadline', async () => {
    const { org, owner, member } = await anOrg(service);
    const held = await holdRows(service);
    await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);
    const answer = await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    expect(answer).toMatchObject(unavailable);
    const detail = engine === 'sqlite' ? 'cannot be reached' : 'took too long';
    expect(answer.body).toMatchObject({ detail: expect.stringContaining(detail) });
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    await held.rollback();
    const later = await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    expect(later.status).toBe(200);
  });
});
