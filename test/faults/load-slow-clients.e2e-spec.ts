import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { percentile } from '../../tooling/percentile.js';
import { loadDuring } from '../support/load.js';
import { PASSWORD, register, startOn } from './support/deployment.js';
import { report } from './support/figures.js';

const OF_EACH_KIND = 100;
const MAX_MS = 20_000;
const BYTE_EACH_MS = 1000;

interface Ended {
  afterMs: number;
  /** the first line of the answer, or nothing */
  answer: string;
}

/** Sends `head` at once and then one byte a second for ever; resolves when the service ends the connection. */
function slowConnection(port: number, head: string, byte: string): Promise<Ended> {
  return new Promise((resolve) => {
    const since = performance.now();
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(head));
    const drip = setInterval(() => socket.writable && socket.write(byte), BYTE_EACH_MS);
    // Given up after this, so that a service that never closes fails the test instead of holding it.
    const limit = setTimeout(() => socket.destroy(), MAX_MS * 2);
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearInterval(drip);
      clearTimeout(limit);
      resolve({ afterMs: performance.now() - since, answer: answer.split('\r\n')[0] ?? '' });
    });
  });
}

it('200 slow clients are disconnected within 20 s while others are served', async () => {
  const { service, send } = await startOn('sqlite');
  const { email, token } = await register(send);

  const port = Number(new URL(service.url).port);
  const slowHead = 'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nX-Slow: ';
  const slowBody =
    'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n';
  let heads: Ended[] = [];
  let bodies: Ended[] = [];
  const history = await loadDuring(
    3,
    async (worker) => {
      await sleep(50);
      const { status } =
        worker === 0
          ? await send('POST', '/api/auth/login', { body: { email, password: PASSWORD } })
          : await send('GET', '/api/me', { token });
      return { outcome: status === 200 ? 'ok' : 'refused', label: String(status) };
    },
    async () => {
      const each = Array.from({ length: OF_EACH_KIND });
      [heads, bodies] = await Promise.all([
        Promise.all(each.map(() => slowConnection(port, slowHead, 'x'))),
        Promise.all(each.map(() => slowConnection(port, slowBody, ' '))),
      ]);
    },
  );

  for (const [what, ended] of Object.entries({ heads, bodies })) {
    const answers = new Set(ended.map(({ answer }) => answer));
    const longestMs = Math.max(...ended.map(({ afterMs }) => afterMs));
    console.info(`slow ${what}:`, [...answers].join(' | ') || 'closed', `after ${Math.round(longestMs)} ms`);
    expect([...answers].filter((answer) => answer !== '' && !answer.startsWith('HTTP/1.1 408'))).toEqual([]);
    expect(longestMs, `slow ${what}`).toBeLessThan(MAX_MS);
  }
  expect([...history.tally().keys()], 'other requests').toEqual(['ok 200']);
  report({
    faults: heads.length + bodies.length,
    requests: history.entries.length,
    wrong: 0,
    longestAnswerMs: Math.round(percentile(history.durations(), 1)) - 50,
  });
});
