import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FallbackStore } from './fallback-store.js';
import type { Admission, RateLimitStore } from './rate-limit-store.js';

const COUNTERS = [{ name: 'login', key: 'k', limit: 1, windowMs: 1000 }];
const TIMEOUT_MS = 250;

const admission = (admitted: boolean): Admission => ({
  admitted,
  quotas: [],
  giveBack: () => Promise.resolve(),
});
const own: RateLimitStore = {
  degraded: false,
  admit: () => Promise.resolve(admission(false)),
  lift: () => Promise.resolve(),
  close: () => undefined,
};

describe('shared windows that nobody asks', () => {
  afterEach(() => void vi.useRealTimers());

  it('are found to be gone within ten seconds, and to be back', async () => {
    vi.useFakeTimers();
    Logger.overrideLogger(false);
    let isGone = false;
    const shared: RateLimitStore = {
      ...own,
      admit: () => (isGone ? Promise.reject(new Error('gone')) : Promise.resolve(admission(true))),
    };
    const store = new FallbackStore(shared, own);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(store.degraded).toBe(false);

    isGone = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(store.degraded).toBe(true);

    isGone = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(store.degraded).toBe(false);
    store.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** The answer lies in the operating system while this thread is busy: another one would have sent it meanwhile. */
describe('a shared window that answers', () => {
  let server: Server;
  let socket: Socket;
  let peer: Socket;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    socket = connect((server.address() as { port: number }).port, '127.0.0.1');
    [peer] = (await accepted) as [Socket];
  });
  afterEach(() => {
    socket.destroy();
    peer.destroy();
    server.close();
  });

  const shared = (): RateLimitStore => ({
    degraded: false,
    admit: async () => {
      await once(socket, 'data');
      return admission(true);
    },
    lift: () => Promise.resolve(),
    close: () => undefined,
  });

  function blockThread(ms: number): void {
    for (const end = performance.now() + ms; performance.now() < end;);
  }

  it('is not considered slow because this event loop was', async () => {
    const store = new FallbackStore(shared(), own);
    const asked = store.admit(COUNTERS);
    peer.write('answer');
    blockThread(TIMEOUT_MS + 100);
    expect((await asked).admitted).toBe(true);
    expect(store.degraded).toBe(false);
    store.close();
  });

  it('is not waited for when it is late', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    const store = new FallbackStore(shared(), own);
    expect((await store.admit(COUNTERS)).admitted).toBe(false);
    expect(store.degraded).toBe(true);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ msg: expect.stringContaining('Redis does not answer') as string }),
    );
    store.close();
  });
});
