import type { Repository } from 'typeorm';
import { expect, it } from 'vitest';
import type { FeedEntry } from './event.entity.js';
import { FeedRepository, type Unnumbered } from './feed.repository.js';

const event = (orgRevision: number | null, userRevision: number | null): Unnumbered => ({
  id: 'i',
  orgId: 'o',
  orgRevision,
  userId: 'u',
  userRevision,
});

it('looks for what precedes a change, and not for what precedes a creation, of which an import has many', async () => {
  const asked: unknown[][] = [];
  const query = (_sql: string, values: unknown[]) => {
    asked.push(values);
    return Promise.resolve([]);
  };
  const feed = new FeedRepository({ query } as unknown as Repository<FeedEntry>);

  expect(
    await feed.findUnnumberedBelow([event(1, 1), event(null, 1), event(1, null), event(null, null)]),
  ).toEqual([]);
  expect(asked).toEqual([]);
  await feed.findUnnumberedBelow([event(1, 1), event(null, 2)]);
  expect(asked).toEqual([['i', '', 0, 'u', '', 2]]);
});
