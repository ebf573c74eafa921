import { randomUUIDv7 } from 'node:crypto';
import { expect } from 'vitest';
import { firstEntityIdAt } from '../../src/identifiers/entity-id.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { Database } from './database.js';
import type { HeldRows } from './held-rows.js';
import { insertRows } from './rows.js';
import type { ServiceCaller } from './services.js';

export interface FeedEvent {
  id: string;
  type: string;
  at: string;
  actor: { type: string; id: string | null };
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: Record<string, unknown>;
}

export interface FeedPage {
  events: FeedEvent[];
  next: string;
}

/** One answer; without `after` the cursor of now. */
export async function readFeed(
  reader: ServiceCaller,
  query: Record<string, string | number> = {},
): Promise<FeedPage> {
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  const { status, body, text } = await reader.get<FeedPage>(`/api/events?${parameters.join('&')}`);
  expect(status, text).toBe(200);
  return body;
}

export async function readFeedAfter(
  reader: ServiceCaller,
  after: string,
  limit = 1000,
): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let cursor = after; ;) {
    const page = await readFeed(reader, { after: cursor, limit });
    events.push(...page.events);
    if (page.events.length < limit) return events;
    cursor = page.next;
  }
}

/** A round of the service does it in the background. */
export async function untilNumbered(db: Database): Promise<void> {
  await waitFor('every event has its place in the feed', hangTimeoutMs(), async () => {
    const waiting = 'e.pending = 1 AND f.seq IS NULL LIMIT 1';
    const sql = `SELECT e.id FROM events e LEFT JOIN feed f ON f.event_id = e.id WHERE ${waiting}`;
    return (await db.query(sql)).length === 0;
  });
}

export interface WrittenEvent {
  type?: string;
  id?: string;
  actorType?: string;
  actorId?: string | null;
  orgId?: string | null;
  orgRevision?: number | null;
  userId?: string | null;
  userRevision?: number | null;
  data?: object;
}

/** Writes events as an instance of the version before does, which does not know how they are numbered. */
export async function writeEvents(
  db: { query: (...statement: Parameters<Database['query']>) => Promise<unknown> },
  events: readonly WrittenEvent[],
): Promise<string[]> {
  const sorted = events.map(() => randomUUIDv7()).toSorted();
  const ids = events.map(({ id }, place) => id ?? sorted[place]!);
  const shared = { ip: '198.51.100.7', request_id: 'a-request', reason: 'a reason', at: Date.now() };
  const rows = events.map((event, place) => ({
    id: ids[place]!,
    type: event.type ?? 'org.renamed',
    actor_type: event.actorType ?? 'system',
    actor_id: event.actorId ?? null,
    org_id: event.orgId === undefined && event.type === undefined ? randomUUIDv7() : (event.orgId ?? null),
    org_revision: event.orgRevision ?? (event.type === undefined ? 1 : null),
    user_id: event.userId ?? null,
    user_revision: event.userRevision ?? null,
    data: JSON.stringify(event.data ?? {}),
  }));
  await insertRows(db, 'events', rows, shared);
  return ids;
}

export function writeEventsIn(
  held: Pick<HeldRows, 'write'>,
  events: readonly WrittenEvent[],
): Promise<string[]> {
  return writeEvents({ query: (...statement) => held.write(...statement) }, events);
}

export interface RecordedEvent {
  type: string;
  actor_type: string;
  actor_id: string | null;
  org_id: string | null;
  user_id: string | null;
  data: unknown;
  reason: string | null;
}

/** What the audit log has held at one time. */
export interface KnownEvents {
  /** The look back ends here: a database that tests share holds very many events. */
  firstId: string;
  ids: ReadonlySet<unknown>;
}

/** No transaction takes as long from the id of its event to its end. */
const LOOK_BACK_MS = 60_000;

/** What the record has gained since, by type: those of one transaction have no order. */
export async function eventsSince(db: Database, known: KnownEvents): Promise<RecordedEvent[]> {
  const rows = await db.query('SELECT * FROM events WHERE id >= ? ORDER BY type, id', [known.firstId]);
  return rows
    .filter(({ id }) => !known.ids.has(id))
    .map(({ type, actor_type, actor_id, org_id, user_id, data, reason = null }) => {
      const event = { type, actor_type, actor_id, org_id, user_id, reason };
      return Object.assign(event as RecordedEvent, { data: JSON.parse(String(data)) as unknown });
    });
}

export async function knownEvents(db: Database): Promise<KnownEvents> {
  const firstId = firstEntityIdAt(Date.now() - LOOK_BACK_MS);
  const rows = await db.query('SELECT id FROM events WHERE id >= ?', [firstId]);
  return { firstId, ids: new Set(rows.map(({ id }) => id)) };
}
