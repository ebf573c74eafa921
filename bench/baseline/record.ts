import { randomUUIDv7 } from 'node:crypto';
import type { Database, Db, Value } from './db.ts';

export interface NewEvent {
  type: string;
  actorId: string;
  sessionId?: string;
  orgId?: string;
  userId?: string;
  data?: object;
}

/** What the service does since it keeps a record: a change and the row that tells of it, or neither. */
export interface Record {
  /** a change of one statement, which a record makes a transaction */
  change<Made>(change: (db: Db) => Promise<Made>, eventsOf: (made: Made) => NewEvent[]): Promise<Made>;
  /** within a transaction */
  write(tx: Db, events: NewEvent[]): Promise<void>;
}

const COLUMNS =
  'id, type, at, actor_type, actor_id, actor_session_id, org_id, org_revision, user_id, data, ip';
const PLACES = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

export function keepRecord(db: Database): Record {
  const write = async (tx: Db, events: NewEvent[]): Promise<void> => {
    if (events.length === 0) return;
    const rows = events.map(() => PLACES).join(', ');
    await tx.run(`INSERT INTO events (${COLUMNS}) VALUES ${rows}`, events.flatMap(valuesOf));
  };
  return {
    write,
    change: (change, eventsOf) =>
      db.transaction(async (tx) => {
        const made = await change(tx);
        await write(tx, eventsOf(made));
        return made;
      }),
  };
}

export function keepNoRecord(db: Database): Record {
  return { change: (change) => change(db), write: async () => undefined };
}

function valuesOf({ type, actorId, sessionId, orgId, userId, data = {} }: NewEvent): Value[] {
  const of = [actorId, sessionId ?? null, orgId ?? null, orgId === undefined ? null : 1, userId ?? null];
  return [randomUUIDv7(), type, Date.now(), 'user', ...of, JSON.stringify(data), '127.0.0.1'];
}
