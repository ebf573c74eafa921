import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { write } from './definition.js';

it('what is written has been taken when it resolves, however little it is', async () => {
  const taken: (() => void)[] = [];
  const output = new Writable({ write: (_chunk, _encoding, done) => void taken.push(done) });
  let resolved = false;

  const written = write('a line\n', output).then(() => (resolved = true));
  await new Promise((next) => setImmediate(next));
  expect(resolved).toBe(false);

  for (const done of taken) done();
  await written;
  expect(resolved).toBe(true);
});
