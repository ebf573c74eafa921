import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anInstallation, type Installation } from '../support/installation.js';
import { anEmail, aPassword } from '../support/personas.js';
import { requestBytes } from '../support/raw-connection.js';
import { exitCode, type ServiceProcess, spawnService, untilListening } from '../support/service-process.js';
import { hangTimeoutMs, waitFor } from '../support/wait.js';

describe('SIGTERM', () => {
  let installation: Installation;
  let service: ServiceProcess;
  let url: URL;

  beforeEach(async () => {
    installation = await anInstallation();
    service = spawnService(installation.directory, installation.env);
    url = new URL(await untilListening(service));
  });
  // Not a failed test's: those end with the file.
  afterEach(() => installation.remove());

  it.each(['SIGTERM', 'SIGINT'] as const)('ends an idle service with code 0, on %s', async (signal) => {
    service.child.kill(signal);

    expect(await exitCode(service)).toBe(0);
  });

  it('ends it although clients keep their connections', async () => {
    const sockets = await Promise.all([keptAlive(), keptAlive(), keptAlive()]);

    service.child.kill('SIGTERM');

    expect(await exitCode(service)).toBe(0);
    for (const { socket } of sockets) socket.destroy();
  });

  it('lets a request in flight have its answer, and no new one in', async () => {
    const json = JSON.stringify({ email: anEmail(), password: aPassword() });
    const { socket, text } = await open();
    const head = requestBytes('POST /api/auth/register', [
      'Content-Type: application/json',
      `Content-Length: ${json.length}`,
      'Expect: 100-continue',
    ]);
    socket.write(head);
    // By this the service says that the request has begun.
    await waitFor('the request has begun', hangTimeoutMs(), () => text().includes('100 Continue'));

    service.child.kill('SIGTERM');
    await waitFor('new connections are refused', hangTimeoutMs(), refusesConnections);
    socket.write(json);

    expect(await exitCode(service)).toBe(0);
    expect(text()).toContain('HTTP/1.1 201');
    expect(text()).toContain('"token":');
  });

  async function refusesConnections(): Promise<boolean> {
    try {
      (await open()).socket.destroy();
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
    }
  }

  async function keptAlive(): Promise<{ socket: Socket; text: () => string }> {
    const connection = await open();
    connection.socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await waitFor('an answer', hangTimeoutMs(), () => connection.text().includes('HTTP/1.1 200'));
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
