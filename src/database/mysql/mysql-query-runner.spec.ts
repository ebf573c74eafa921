import { expect, it } from 'vitest';
import { sendStatement } from './mysql-query-runner.js';

it('ends a statement of which no answer comes, with the code of a silent server', async () => {
  const silent = { query: () => undefined as never };
  await expect(sendStatement(silent, 'SELECT 1', [], 1)).rejects.toMatchObject({
    code: 'PROTOCOL_SEQUENCE_TIMEOUT',
  });
});
