import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { type Measured, measured } from './measure.ts';
import type { Call, Operation } from './call.ts';
import { requestText } from './request.ts';

export interface Drive {
  connections: number;
  durationMs: number;
  requests?: number;
}

const FEW_CONNECTIONS = 8;
const FIRST_REQUEST = requestText({ method: 'GET', path: '/api/me' });

/** Keeps every connection busy until the time is over or the operation runs out. */
export async function drive(
  url: string,
  operation: Operation,
  { connections: count, durationMs, requests }: Drive,
): Promise<Measured> {
  const latencies: number[] = [];
  const bounded = requests === undefined ? operation : atMost(requests, operation);
  const elapsed = await withConnections(url, count, async (connections) => {
    const start = performance.now();
    const end = start + durationMs;
    await Promise.all(connections.map((connection) => keepBusy(connection, bounded, end, latencies)));
    return performance.now() - start;
  });
  return measured(latencies, elapsed);
}

/** Sends at a constant rate, as independent users would, however long answers take. */
export async function probe(
  url: string,
  operation: Operation,
  options: { connections: number; durationMs: number; intervalMs: number },
): Promise<Measured> {
  const latencies: number[] = [];
  await withConnections(url, options.connections, async (connections) => {
    const start = performance.now();
    const pace = async (connection: Connection, place: number): Promise<void> => {
      const step = options.intervalMs * connections.length;
      for (let due = start + place * options.intervalMs; due < start + options.durationMs; due += step) {
        const early = due - performance.now();
        if (early > 0) await sleep(early);
        // A request that waited for the previous answer has waited since it was due.
        const since = early > 0 ? performance.now() : due;
        await once(connection, operation);
        latencies.push(performance.now() - since);
      }
    };
    await Promise.all(connections.map(pace));
  });
  return measured(latencies, options.durationMs);
}

/** Makes one call for each of the items. */
export async function callForEach<Item>(
  url: string,
  items: readonly Item[],
  callFor: (item: Item) => Call,
): Promise<void> {
  const waiting = [...items];
  const next: Operation = () => {
    const item = waiting.pop();
    return item && callFor(item);
  };
  await drive(url, next, { connections: FEW_CONNECTIONS, durationMs: Number.POSITIVE_INFINITY });
}

async function withConnections<T>(
  url: string,
  count: number,
  work: (connections: Connection[]) => Promise<T>,
): Promise<T> {
  const connections = await Promise.all(
    Array.from({ length: count }, (_, client) => Connection.open(url, client)),
  );
  try {
    // A busy server accepts one connection in each turn of its event loop: without a first answer on all of
    // them, the last would wait for the whole run.
    await Promise.all(connections.map((connection) => connection.send(FIRST_REQUEST)));
    return await work(connections);
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function keepBusy(
  connection: Connection,
  operation: Operation,
  end: number,
  latencies: number[],
): Promise<void> {
  for (let sent = performance.now(); sent < end; sent = performance.now()) {
    const call = operation();
    if (!call) return;
    const response = await connection.send(call.request);
    latencies.push(performance.now() - sent);
    call.accept(response);
  }
}

function atMost(requests: number, operation: Operation): Operation {
  let left = requests;
  return () => {
    if (left === 0) return undefined;
    left -= 1;
    return operation();
  };
}

async function once(connection: Connection, operation: Operation): Promise<void> {
  const call = operation();
  if (call) call.accept(await connection.send(call.request));
}
