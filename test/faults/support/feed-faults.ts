import { isToldTo } from '../../../src/events/events.service.js';
import type { Database, Row } from '../../support/database.js';
import type { FeedReader } from './feed-reader.js';

/**
 * Compares what a service has heard from the beginning of the feed on with the record; empty: nothing is wrong.
 *
 * @param unnumbered ids of events from before the feed began
 */
export async function feedFaults(
  db: Database,
  service: string,
  heard: readonly Record<string, unknown>[],
  unnumbered: readonly string[] = [],
): Promise<string[]> {
  const before = new Set(unnumbered);
  const recorded = (await db.query('SELECT * FROM events')).filter(({ id }) => !before.has(String(id)));
  const told = recorded.map(fieldsOf).filter(({ type, data }) => isToldTo(service, { type, data }));
  const rows = new Map(told.map((row) => [row.id, row]));
  const faults: string[] = [];
  const seen = new Set<unknown>();
  for (const event of heard) {
    const id = String(event['id']);
    const row = rows.get(id);
    if (seen.has(id)) faults.push(`${id} came twice`);
    if (!row) faults.push(`${id} is not in the record, or not for this service`);
    else if (JSON.stringify(shown(row)) !== JSON.stringify(event))
      faults.push(`${id} differs from the record`);
    seen.add(id);
  }
  for (const { id, type } of told) if (!seen.has(id)) faults.push(`${id} (${String(type)}) is missing`);
  return [
    ...faults,
    ...descents(heard, 'orgId', 'orgRevision'),
    ...descents(heard, 'userId', 'userRevision'),
  ];
}

/** Returns what is wrong with what each of the readers was answered and has heard. */
export async function faultsOfReaders(
  db: Database,
  service: string,
  readers: readonly FeedReader[],
  unnumbered?: readonly string[],
): Promise<string[]> {
  const faults: string[] = [];
  for (const { wrong, heard } of readers) {
    faults.push(...wrong, ...(await feedFaults(db, service, heard, unnumbered)));
  }
  return faults;
}

function descents(heard: readonly Record<string, unknown>[], subject: string, revision: string): string[] {
  const highest = new Map<unknown, number>();
  const faults: string[] = [];
  for (const event of heard) {
    const [of, at] = [event[subject], event[revision]];
    if (typeof of !== 'string' || typeof at !== 'number') continue;
    if (at < (highest.get(of) ?? 0))
      faults.push(`${String(event['id'])}: ${subject} ${of} went back to ${at}`);
    highest.set(of, at);
  }
  return faults;
}

function fieldsOf(row: Row) {
  return { id: String(row['id']), type: String(row['type']) as never, data: String(row['data']), row };
}

function shown({ row }: ReturnType<typeof fieldsOf>): object {
  const isByUser = row['actor_type'] === 'user';
  return {
    id: row['id'],
    type: row['type'],
    at: new Date(Number(row['at'])).toISOString(),
    actor: { type: row['actor_type'], id: isByUser ? row['actor_id'] : null },
    orgId: row['org_id'],
    orgRevision: row['org_revision'],
    userId: row['user_id'],
    userRevision: row['user_revision'],
    sessionId: row['session_id'],
    data: JSON.parse(String(row['data'])) as unknown,
  };
}
