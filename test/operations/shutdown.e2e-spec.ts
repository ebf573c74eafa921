import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../tooling/servers/free-port.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { NO_LIMITS } from '../support/service.js';
import { keptAliveRequest, type OpenConnection, openConnection } from '../support/connections.js';
import { anEmail, aPassword } from '../support/personas.js';
import {
  BUILT_SERVICE,
  exitCode,
  type ServiceProcess,
  spawnInto,
  spawnService,
  untilListening,
} from '../support/service-process.js';
import { aServiceClient } from '../support/services.js';

const CUT_SHORT = 'requests are still running';
/** of a service at one process */
const WAITING = 20;
/** On a server, the workers have to pass the signal on. */
const ENV = engine === 'sqlite' ? {} : { ...NO_LIMITS, WEB_CONCURRENCY: '2' };

describe('a signal to stop', () => {
  let installation: Installation;
  let service: ServiceProcess;
  let url: string;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  // Installations of failed tests are removed at the end of the file.
  afterEach(() => installation.remove());

  const connect = async (request: string, headers: string[] = []): Promise<OpenConnection> => {
    const connection = await openConnection(url);
    connection.socket.write(keptAliveRequest(request, headers));
    return connection;
  };

  async function start(): Promise<void> {
    service = spawnService(installation.directory, { ...installation.env, ...ENV });
    url = await untilListening(service);
  }

  /** A registration whose head has arrived and whose body is sent later. */
  async function aRequestInFlight(...headers: string[]) {
    const json = JSON.stringify({ email: anEmail(), password: aPassword() });
    const length = `Content-Length: ${json.length}`;
    const head = ['Content-Type: application/json', length, 'Expect: 100-continue', ...headers];
    const connection = await connect('POST /api/auth/register', head);
    // This answer says that the request has begun.
    await vi.waitFor(() => expect(connection.text()).toContain('100 Continue'), hangTimeoutMs());
    return { connection, sendBody: (following = '') => connection.socket.write(json + following) };
  }

  it.runIf(engine === 'sqlite')(
    'stops an idle service although clients keep connections open or send nothing',
    async () => {
      await start();
      const connections = await Promise.all(times(3, () => connect('GET /health/live')));
      for (const { text } of connections)
        await vi.waitFor(() => expect(text()).toContain('HTTP/1.1 200'), hangTimeoutMs());
      const { closed } = await openConnection(url);

      service.child.kill('SIGINT');

      expect(await closed).toBe('');
      expect(await exitCode(service)).toBe(0);
      expect(service.logs.join('\n')).not.toContain(CUT_SHORT);
      for (const { socket } of connections) socket.destroy();
    },
  );

  it('has requests in flight answered, however often it comes, and no new ones accepted', async () => {
    await start();
    const closing = await aRequestInFlight('Connection: close');
    const keptAlive = await aRequestInFlight();
    const probing = await aRequestInFlight();

    service.child.kill('SIGTERM');
    await vi.waitFor(() => expect(openConnection(url)).rejects.toThrow('ECONNREFUSED'), hangTimeoutMs());
    service.child.kill('SIGTERM');
    service.child.kill('SIGINT');
    closing.sendBody();
    keptAlive.sendBody();
    probing.sendBody(keptAliveRequest('GET /health/ready'));

    expect(await exitCode(service)).toBe(0);
    for (const { connection } of [closing, keptAlive, probing]) {
      expect(connection.text()).toContain('HTTP/1.1 201');
      expect(connection.text()).toContain('"token":');
    }
    expect(probing.connection.statuses(), 'readiness is refused').toEqual([201, 503]);
    expect(probing.connection.text()).toContain('"code":"unavailable"');
    expect(service.logs.join('\n')).not.toContain(CUT_SHORT);
  });

  it.runIf(engine === 'sqlite')('ends what waits for an event of the feed, with an answer', async () => {
    await start();
    const { authorization } = await aServiceClient(installation.db, ['events']);
    const request = 'GET /api/events?after=start&wait=15';
    const waiting = await Promise.all(
      times(WAITING + 1, () => connect(request, [`Authorization: ${authorization}`])),
    );
    const statuses = () => waiting.flatMap((connection) => connection.statuses());
    // The one that is refused says that all others wait.
    await vi.waitFor(() => expect(statuses()).toEqual([429]), hangTimeoutMs());

    service.child.kill('SIGTERM');

    expect(await exitCode(service)).toBe(0);
    expect(statuses().toSorted((one, other) => one - other)).toEqual([...times(WAITING, () => 200), 429]);
    expect(service.logs.join('\n')).not.toContain(CUT_SHORT);
  });

  it.runIf(engine === 'sqlite')('stops a service that runs where the disk of its log is full', async () => {
    url = `http://127.0.0.1:${await freePort()}`;
    const full = openSync('/dev/full', 'w');
    const env = { ...installation.env, PORT: new URL(url).port };
    const unheard = spawnInto(full, BUILT_SERVICE, installation.directory, env);
    closeSync(full);
    const ended = once(unheard, 'exit');
    try {
      await waitFor('the service listens', hangTimeoutMs(), () => fetch(`${url}/health/live`));
      for (let count = 0; count < 100; count += 1) expect((await fetch(`${url}/api/me`)).status).toBe(401);
    } finally {
      unheard.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });
});
