import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anEmail, aPassword } from '../support/personas.js';
import { requestBytes } from '../support/raw-connection.js';
import {
  type Environment,
  exitCode,
  type ServiceProcess,
  spawnService,
  untilListening,
} from '../support/service-process.js';

const ANSWERED = { code: 0, answer: expect.stringMatching(/HTTP\/1\.1 201[^]*"token":/) as string };

describe('SIGTERM', () => {
  let installation: Installation;
  let service: ServiceProcess;
  let url: URL;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(async () => {
    service.child.kill('SIGKILL');
    await service.exited;
    await installation.remove();
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends an idle service with code 0, on %s', async (signal) => {
    await start();

    service.child.kill(signal);

    expect(await exitCode(service)).toBe(0);
  });

  it('ends it although clients keep their connections', async () => {
    await start();
    const sockets = await Promise.all([keptAlive(), keptAlive(), keptAlive()]);

    service.child.kill('SIGTERM');

    expect(await exitCode(service)).toBe(0);
    for (const { socket } of sockets) socket.destroy();
  });

  it('lets a request in flight have its answer, and no new one in', async () => {
    await start();

    expect(await stopDuringARequest(1)).toEqual(ANSWERED);
  });

  // Ctrl+C comes from the terminal and again from npm.
  it('does so although it is sent twice', async () => {
    await start();

    expect(await stopDuringARequest(2)).toEqual(ANSWERED);
  });

  it.runIf(engine === 'mariadb')('does so with several workers', async () => {
    await start({ WEB_CONCURRENCY: '2', RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' });

    expect(await stopDuringARequest(2)).toEqual(ANSWERED);
  });

  async function start(env: Environment = {}): Promise<void> {
    service = spawnService(installation.directory, { ...installation.env, ...env });
    url = new URL(await untilListening(service));
  }

  async function stopDuringARequest(signals: 1 | 2): Promise<{ code: number | null; answer: string }> {
    const json = JSON.stringify({ email: anEmail(), password: aPassword() });
    const { socket, text } = await open();
    const head = requestBytes('POST /api/auth/register', [
      'Content-Type: application/json',
      `Content-Length: ${json.length}`,
      'Expect: 100-continue',
    ]);
    socket.write(head);
    // By this the service says that the request has begun.
    await vi.waitFor(() => expect(text()).toContain('100 Continue'), { timeout: 10_000 });

    service.child.kill('SIGTERM');
    await vi.waitFor(() => expect(newConnection()).rejects.toThrow('ECONNREFUSED'), { timeout: 10_000 });
    if (signals === 2) service.child.kill('SIGTERM');
    socket.write(json);

    return { code: await exitCode(service), answer: text() };
  }

  async function newConnection(): Promise<void> {
    const { socket } = await open();
    socket.destroy();
  }

  async function keptAlive(): Promise<{ socket: Socket; text: () => string }> {
    const connection = await open();
    connection.socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await vi.waitFor(() => expect(connection.text()).toContain('HTTP/1.1 200'));
    return connection;
  }

  function open(): Promise<{ socket: Socket; text: () => string }> {
    return new Promise((opened, failed) => {
      const chunks: Buffer[] = [];
      const socket = connect(Number(url.port), url.hostname);
      socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
      socket.once('error', failed);
      socket.once('connect', () => opened({ socket, text: () => Buffer.concat(chunks).toString() }));
    });
  }
});
