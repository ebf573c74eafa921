import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { createVerifier } from '../src/service/index.ts';
import { json, OddServer } from './support/odd-server.ts';

/** Later than a service that is up is expected to be. */
const LATE_MS = 900;

let server: OddServer;

beforeAll(async () => {
  server = await OddServer.start();
});
afterAll(() => server.stop());

it('waits for a service that is always late, rather than give each answer up', async () => {
  let answers = 0;
  server.answer(json(200, { events: [], next: '0' }), (response, asked) => {
    const wait = Number(new URL(asked.path, server.url).searchParams.get('wait'));
    const late = setTimeout(
      () => {
        answers += 1;
        json(200, { events: [{ type: 'org.renamed' }], next: String(answers) })(response, asked);
      },
      wait * 1000 + LATE_MS,
    );
    response.on('close', () => clearTimeout(late));
  });
  let heard = 0;
  const verifier = createVerifier({
    issuer: server.url,
    audience: 'billing',
    credentials: { name: 'billing', secret: 's' },
    onEvent: () => (heard += 1),
  });

  await vi.waitFor(() => expect(heard).toBeGreaterThan(1), { timeout: hangTimeoutMs() });
  await verifier.close();
});
