import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { write } from './write.js';

it('what is written has been taken when it resolves, however little it is', async () => {
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const output = new Writable({ write: (_chunk, _encoding, done) => void taken.then(() => done()) });
  let resolved = false;

  const written = write('a line\n', output).then(() => (resolved = true));
  await new Promise((next) => setImmediate(next));
  expect(resolved).toBe(false);

  take();
  await written;
  expect(resolved).toBe(true);
});
