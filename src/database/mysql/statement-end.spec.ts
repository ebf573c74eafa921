import { expect, it } from 'vitest';
import { endInTime, once } from './statement-end.js';

it('ends a statement of which no answer comes, with the code of a silent server', async () => {
  const ended = await new Promise((resolve) => {
    endInTime(once(resolve), { sql: 'SELECT 1', timeout: 1 });
  });
  expect(ended).toMatchObject({ code: 'PROTOCOL_SEQUENCE_TIMEOUT' });
});

it('ends once, with what came first', () => {
  const ends: unknown[][] = [];
  const end = endInTime(
    once((...outcome) => ends.push(outcome)),
    { timeout: 10_000 },
  );
  end(null, ['row']);
  end(null, ['late']);
  expect(ends).toEqual([[null, ['row']]]);
});

it('leaves a statement without a time limit alone', () => {
  const end = (): void => undefined;
  expect(endInTime(end, 'SELECT 1')).toBe(end);
  expect(endInTime(end, { sql: 'SELECT 1' })).toBe(end);
});
