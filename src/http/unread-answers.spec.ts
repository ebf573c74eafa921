import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Logger } from '@nestjs/common';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { UnreadAnswers } from './unread-answers.js';

const MIB = 1024 * 1024;
/** longer than the buffers of the operating system, which a client has taken as soon as they are full */
const BODY = Buffer.alloc(24 * MIB);

Logger.overrideLogger(false);
afterAll(() => Logger.overrideLogger(['error', 'warn']));

const cleanUps: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
  vi.useRealTimers();
});

/** A server whose clients ask for one answer each and read nothing of it. `closed` names those that it disconnected. */
async function aServer() {
  const unread = new UnreadAnswers();
  const sent: string[] = [];
  const closed: string[] = [];
  const server = createServer((request, response) => {
    const name = String(request.headers['x-name']);
    request.socket.once('close', () => closed.push(name));
    unread.add(request.socket, name.split(' ')[0]!, BODY.length);
    response.end(BODY);
    sent.push(name);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const ask = async (name: string) => {
    const socket = connect(port, '127.0.0.1');
    cleanUps.push(() => socket.destroy());
    socket.on('error', () => undefined).pause();
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Name: ${name}\r\n\r\n`);
    await waitFor('it is answered', hangTimeoutMs(), () => sent.includes(name));
    return socket;
  };
  return { ask, closed };
}

describe('answers that no client reads', () => {
  it('cost the client with the most of them its oldest connection, beyond 64 MiB in all', async () => {
    const { ask, closed } = await aServer();
    await ask('ada 1');
    for (const name of ['flood 1', 'flood 2', 'flood 3', 'flood 4']) await ask(name);
    await waitFor('one is closed', hangTimeoutMs(), () => closed.length > 0);
    await ask('eve 1');
    expect(closed[0]).toBe('flood 1');
    expect(closed.every((name) => name.startsWith('flood'))).toBe(true);
    expect(closed).not.toContain('flood 4');
  });

  it('are closed five seconds after the client has taken something for the last time', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const { ask, closed } = await aServer();
    const [silent, reader] = [await ask('silent 1'), await ask('reader 1')];
    await vi.advanceTimersByTimeAsync(4000);
    expect(closed).toEqual([]);

    let taken = 0;
    reader.on('data', (chunk: Buffer) => (taken += chunk.length)).resume();
    await waitFor('the reader has read on', hangTimeoutMs(), () => taken > 16 * MIB);
    reader.pause();
    await vi.advanceTimersByTimeAsync(2000);
    await waitFor('the silent client is disconnected', hangTimeoutMs(), () => closed.length > 0);
    expect(closed).toEqual(['silent 1']);
    expect(silent.readableFlowing).toBe(false);
  });
});
