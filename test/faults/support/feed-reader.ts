import { setTimeout as sleep } from 'node:timers/promises';
import { isDeliveredTo } from '../../../src/events/events.service.js';
import type { Database, Row } from '../../support/database.js';
import { asRecords, asString, clientOf, type Send } from '../../support/service-client.js';
import type { ServiceClient } from '../../support/services.js';

type Heard = Record<string, unknown>;

/** Follows the feed at some instances in turn, continues at the next one where one does not answer, and notes what it heard. */
export class FeedReader {
  readonly heard: Heard[] = [];
  readonly wrong: string[] = [];
  answers = 0;
  private cursor = 'start';
  private stopping = false;
  private readonly running: Promise<void>;
  private readonly send: Send;

  constructor(
    readonly service: Pick<ServiceClient, 'name' | 'authorization'>,
    ...instances: { url: string }[]
  ) {
    this.send = clientOf(...instances.map(({ url }) => url));
    this.running = this.follow();
  }

  get ids(): string[] {
    return this.heard.map(({ id }) => asString(id));
  }

  async end(): Promise<void> {
    this.stopping = true;
    await this.running;
    while ((await this.page(0)) !== 0) await sleep(10);
  }

  private async follow(): Promise<void> {
    while (!this.stopping) await this.page(1);
  }

  private async page(wait: number): Promise<number | undefined> {
    const path = `/api/events?after=${this.cursor}&wait=${wait}&limit=200`;
    const { authorization } = this.service;
    const options = { headers: { authorization }, timeoutMs: 5000 };
    const answer = await this.send('GET', path, options).catch(() => undefined);
    if (answer) this.answers += 1;
    if (answer?.status === 200) {
      const events = asRecords(answer.body['events']);
      this.heard.push(...events);
      this.cursor = asString(answer.body['next']);
      return events.length;
    }
    // An instance may say that it cannot know.
    if (answer && answer.status !== 503) this.wrong.push(`${answer.status} after ${this.cursor}`);
    await sleep(20);
    return undefined;
  }
}

/**
 * Ends the readers, and returns what is wrong with the responses and the events that each of them received.
 *
 * @param unnumbered ids of events from before the feed began
 */
export async function faultsAtTheEnd(
  db: Database,
  readers: readonly FeedReader[],
  unnumbered?: readonly string[],
): Promise<string[]> {
  for (const reader of readers) await reader.end();
  const faults: string[] = [];
  for (const { service, wrong, heard } of readers)
    faults.push(...wrong, ...(await feedFaults(db, service.name, heard, unnumbered)));
  return faults;
}

/** Compares the events that a service received from the beginning of the feed with the audit log; empty: nothing is wrong. */
export async function feedFaults(
  db: Database,
  service: string,
  heard: readonly Heard[],
  unnumbered: readonly string[] = [],
): Promise<string[]> {
  const before = new Set(unnumbered);
  const recorded = (await db.query('SELECT * FROM events')).filter(({ id }) => !before.has(String(id)));
  const told = recorded.filter((row) =>
    isDeliveredTo(service, { type: String(row['type']) as never, data: String(row['data']) }),
  );
  const rows = new Map(told.map((row) => [row['id'], row]));
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
  for (const { id, type } of told) if (!seen.has(id)) faults.push(`${id} (${type}) is missing`);
  return [
    ...faults,
    ...descents(heard, 'orgId', 'orgRevision'),
    ...descents(heard, 'userId', 'userRevision'),
  ];
}

function descents(heard: readonly Heard[], subject: string, revision: string): string[] {
  const highest = new Map<unknown, number>();
  return heard.flatMap((event) => {
    const [of, at] = [event[subject], event[revision]];
    if (typeof of !== 'string' || typeof at !== 'number') return [];
    const before = highest.get(of) ?? 0;
    highest.set(of, at);
    return at < before ? [`${String(event['id'])}: ${subject} ${of} went back to ${at}`] : [];
  });
}

function shown(row: Row): object {
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
