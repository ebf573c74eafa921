import { afterAll, expect, it } from 'vitest';
import { openDataLayer } from '../support/data-source.js';
import { anUnknownId } from '../support/personas.js';
import { insertRow, insertRows } from '../support/rows.js';

const data = await openDataLayer();
afterAll(() => data.close());
const COMMON = { title: 'Acme', issuer: 'https://a.example', client_id: 'c', secret: 's', settings: '{}' };

it('keeps subjects apart that differ in case, accents or spaces at the end', async () => {
  const { db } = data;
  const [provider, subjects] = [anUnknownId(), ['abc', 'ABC', 'äbc', 'abc ', 'abc\u{301}']];
  await insertRow(db, 'providers', { id: provider, name: 'acme', created_at: 1, ...COMMON });
  const identities = subjects.map((subject) => ({ subject, user_id: anUnknownId() }));
  await insertRows(
    db,
    'users',
    identities.map(({ user_id: id }) => ({ id })),
  );
  await insertRows(db, 'identities', identities, { provider_id: provider, created_at: 1 });

  const userOf = (subject: string) => db.query('SELECT user_id FROM identities WHERE subject = ?', [subject]);
  for (const { subject, user_id } of identities) expect(await userOf(subject)).toEqual([{ user_id }]);
  for (const other of ['Abc', 'abc  ', ' abc', 'abc\t']) expect(await userOf(other)).toEqual([]);
  expect(await db.query('SELECT id FROM providers WHERE name IN (?, ?)', ['acme ', 'Acme'])).toEqual([]);
});

it('deletes the identities of a user whom an instance of the previous release deletes', async () => {
  const [provider, user] = [anUnknownId(), anUnknownId()];
  await insertRow(data.db, 'providers', { id: provider, name: 'other', created_at: 1, ...COMMON });
  await insertRow(data.db, 'users', { id: user });
  const identity = { provider_id: provider, subject: 'abc', user_id: user, created_at: 1 };
  await insertRow(data.db, 'identities', identity);
  await data.dataSource.query('DELETE FROM users WHERE id = ?', [user]);
  expect(await data.db.query('SELECT * FROM identities WHERE user_id = ?', [user])).toEqual([]);
});
