import { randomUUIDv7 } from 'node:crypto';
import { expect } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { Database } from './database.js';
import type { HeldRows } from './held-rows.js';
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
    const waiting = await db.query(
      `SELECT e.id FROM events e LEFT JOIN feed f ON f.event_id = e.id
        WHERE e.pending = 1 AND f.seq IS NULL LIMIT 1`,
    );
    return waiting.length === 0;
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
  for (let from = 0; from < events.length; from += 500) {
    const rows = events.slice(from, from + 500).map((event, place) => {
      return [
        ids[from + place]!,
        event.type ?? 'org.renamed',
        Date.now(),
        event.actorType ?? 'system',
        event.actorId ?? null,
        event.orgId === undefined && event.type === undefined ? randomUUIDv7() : (event.orgId ?? null),
        event.type === undefined ? (event.orgRevision ?? 1) : (event.orgRevision ?? null),
        event.userId ?? null,
        event.userRevision ?? null,
        JSON.stringify(event.data ?? {}),
      ];
    });
    await db.query(
      `INSERT INTO events (id, type, at, actor_type, actor_id, org_id, org_revision, user_id, user_revision, data,
          ip, request_id, reason)
        VALUES ${rows.map(() => "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '198.51.100.7', 'a-request', 'a reason')").join()}`,
      rows.flat(),
    );
  }
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

/** What the record has gained since, by type: those of one transaction have no order. */
export async function eventsSince(db: Database, known: ReadonlySet<unknown>): Promise<RecordedEvent[]> {
  const rows = await db.query('SELECT * FROM events ORDER BY type, id');
  return rows
    .filter(({ id }) => !known.has(id))
    .map(({ type, actor_type, actor_id, org_id, user_id, data, reason }) => ({
      type: String(type),
      actor_type: String(actor_type),
      actor_id: actor_id as string | null,
      org_id: org_id as string | null,
      user_id: user_id as string | null,
      data: JSON.parse(String(data)) as unknown,
      reason: (reason ?? null) as string | null,
    }));
}

export async function knownEvents(db: Database): Promise<ReadonlySet<unknown>> {
  return new Set((await db.query('SELECT id FROM events')).map(({ id }) => id));
}
