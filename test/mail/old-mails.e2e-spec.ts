import { afterAll, beforeAll, expect, it } from 'vitest';
import { firstEntityIdAt } from '../../src/identifiers/entity-id.js';
import { MAIL_STATES } from '../../src/mail/mail.entity.js';
import { aCleanUp } from '../support/clean-up.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';

const NOW = 1_800_000_000_000;
const WEEK_MS = 7 * 86_400_000;

let data: DataLayer;

beforeAll(async () => {
  data = await openDataLayer();
});
afterAll(() => data.close());

it('are deleted after a week, whatever has become of them: nobody is alarmed by an old notice', async () => {
  for (const [place, state] of MAIL_STATES.entries()) {
    for (const at of [NOW - WEEK_MS - 1, NOW - WEEK_MS]) {
      const id = firstEntityIdAt(at).slice(0, -1) + String(place);
      await data.db.query(
        `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, priority, turn_at)
          VALUES (?, 'password_changed', 'ada@example.com', ?, ?, 0, 1, 0)`,
        [id, state, at],
      );
    }
  }
  await aCleanUp(data.dataSource).deleteExpired(NOW);
  const left = await data.db.query('SELECT state, created_at AS at FROM mails ORDER BY id');
  expect(left.map(({ state, at }) => [state, Number(at)])).toEqual(
    MAIL_STATES.map((state) => [state, NOW - WEEK_MS]),
  );
});
