import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { times } from '../support/at-once.js';
import { NO_LIMITS } from '../support/no-limits.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { keptAliveRequest, type OpenConnection, openConnection } from '../support/open-connection.js';
import { anEmail, aPassword } from '../support/personas.js';
import { aServiceClient } from '../support/services.js';
import {
  type Environment,
  exitCode,
  type ServiceProcess,
  spawnService,
  untilListening,
} from '../support/service-process.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

/** what the log says when requests were abandoned */
const CUT_SHORT = 'requests are still running';
const ANSWERED = { code: 0, answer: expect.stringContaining('HTTP/1.1 201') as string };
/** of a service at one process */
const WAITING = 20;
const WORKERS = { ...NO_LIMITS, WEB_CONCURRENCY: '2' };

describe('SIGTERM', () => {
  let installation: Installation;
  let service: ServiceProcess;
  let url: string;

  beforeEach(async () => {
    installation = await anInstallation();
    await start();
  });
  // Installations of failed tests are removed at the end of the file.
  afterEach(() => installation.remove());

  it.each(['SIGTERM', 'SIGINT'] as const)('stops an idle service with code 0, on %s', async (signal) => {
    service.child.kill(signal);

    expect(await exitCode(service)).toBe(0);
  });

  it('stops it although clients keep their connections open', async () => {
    const connections = await Promise.all([keptAlive(), keptAlive(), keptAlive()]);

    service.child.kill('SIGTERM');

    expect(await exitCode(service)).toBe(0);
    for (const { socket } of connections) socket.destroy();
  });

  it('stops it although a connection has sent nothing yet', async () => {
    const { closed } = await openConnection(url);

    service.child.kill('SIGTERM');

    expect(await closed).toBe('');
    expect(await exitCode(service)).toBe(0);
    expect(service.logs.join('\n')).not.toContain(CUT_SHORT);
  });

  it('answers requests in flight, and accepts no new ones', async () => {
    const { connection, sendBody } = await aRequestInFlight(['Connection: close']);

    await stop();
    sendBody();

    expect(await exitCode(service)).toBe(0);
    expect(connection.text()).toContain('HTTP/1.1 201');
    expect(connection.text()).toContain('"token":');
  });

  it('closes a connection as soon as it is idle', async () => {
    const { connection, sendBody } = await aRequestInFlight();

    await stop();
    sendBody();

    expect(await exitCode(service)).toBe(0);
    expect(connection.text()).toContain('HTTP/1.1 201');
    expect(service.logs.join('\n')).not.toContain(CUT_SHORT);
  });

  it('makes readiness 503 for requests on open connections', async () => {
    const { connection, sendBody } = await aRequestInFlight();

    await stop();
    sendBody(keptAliveRequest('GET /health/ready'));

    expect(await exitCode(service)).toBe(0);
    expect(connection.statuses()).toEqual([201, 503]);
    expect(connection.text()).toContain('"code":"unavailable"');
  });

  it('ends what waits for an event of the feed, with an answer', async () => {
    const { authorization } = await aServiceClient(installation.db, ['events']);
    const waiting = await Promise.all(
      times(WAITING + 1, async () => {
        const connection = await openConnection(url);
        const head = [`Authorization: ${authorization}`];
        connection.socket.write(keptAliveRequest('GET /api/events?after=start&wait=15', head));
        return connection;
      }),
    );
    const statuses = () => waiting.flatMap((connection) => connection.statuses());
    // The one that is refused says that all others wait.
    await vi.waitFor(() => expect(statuses()).toEqual([429]), hangTimeoutMs());

    service.child.kill('SIGTERM');

    expect(await exitCode(service)).toBe(0);
    expect(statuses().toSorted((one, other) => one - other)).toEqual([...times(WAITING, () => 200), 429]);
    expect(service.logs.join('\n')).not.toContain(CUT_SHORT);
  });

  it('is handled once: a second signal does not cut off the request in flight', async () => {
    expect(await stopTwice()).toEqual(ANSWERED);
  });

  it.runIf(engine === 'mariadb')('is handled once by several workers, too', async () => {
    await kill();
    await start(WORKERS);

    expect(await stopTwice()).toEqual(ANSWERED);
  });

  async function start(env: Environment = {}): Promise<void> {
    service = spawnService(installation.directory, { ...installation.env, ...env });
    url = await untilListening(service);
  }

  async function kill(): Promise<void> {
    service.child.kill('SIGKILL');
    await service.exited;
  }

  async function stopTwice(): Promise<{ code: number | null; answer: string }> {
    const { connection, sendBody } = await aRequestInFlight();

    await stop();
    service.child.kill('SIGTERM');
    service.child.kill('SIGINT');
    sendBody();

    return { code: await exitCode(service), answer: connection.text() };
  }

  /** Sends the signal and waits until the service has stopped listening. */
  async function stop(): Promise<void> {
    service.child.kill('SIGTERM');
    await vi.waitFor(() => expect(openConnection(url)).rejects.toThrow('ECONNREFUSED'), hangTimeoutMs());
  }

  /** A registration whose head has arrived and whose body is sent later. */
  async function aRequestInFlight(
    headers: string[] = [],
  ): Promise<{ connection: OpenConnection; sendBody: (following?: string) => void }> {
    const json = JSON.stringify({ email: anEmail(), password: aPassword() });
    const connection = await openConnection(url);
    const length = `Content-Length: ${json.length}`;
    const head = ['Content-Type: application/json', length, 'Expect: 100-continue', ...headers];
    connection.socket.write(keptAliveRequest('POST /api/auth/register', head));
    // This answer says that the request has begun.
    await vi.waitFor(() => expect(connection.text()).toContain('100 Continue'), hangTimeoutMs());
    return { connection, sendBody: (following = '') => connection.socket.write(json + following) };
  }

  async function keptAlive(): Promise<OpenConnection> {
    const connection = await openConnection(url);
    connection.socket.write(keptAliveRequest('GET /health/live'));
    await vi.waitFor(() => expect(connection.text()).toContain('HTTP/1.1 200'), hangTimeoutMs());
    return connection;
  }
});
