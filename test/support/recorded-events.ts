import type { Database } from './database.js';

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
