import { performance } from 'node:perf_hooks';
import { fill } from '../fixture/fill.ts';
import { createFixture } from '../fixture/fixture.ts';
import { createOrg, login } from '../load/account-operations.ts';
import type { Operation } from '../load/call.ts';
import { cycle } from '../load/cycle.ts';
import { callForEach, probe } from '../load/drive.ts';
import { followFeed, type HeardEvent } from '../load/feed-reader.ts';
import type { Options } from '../options.ts';
import { FEED } from '../plan.ts';
import { progress } from '../progress.ts';
import type { LatencySummary } from '../report/feed-report.ts';
import { keysFile } from '../servers/keys-file.ts';
import { startHttpServer } from '../servers/http-server.ts';
import { percentile } from '../../tooling/percentile.ts';
import type { MariaDbServer } from '../../tooling/servers/mariadb.ts';
import { waitFor } from '../../tooling/wait.ts';
import { serveFeed } from './served-feed.ts';

const CONNECTIONS = 8;
const WRITERS = 64;
const LAST_TIMEOUT_MS = 20_000;

/** How long after the answer to a change, at one instance, readers of another hear of it. Times are milliseconds. */
export async function feedLatency(
  options: Options,
  durationMs: number,
  mariadb: MariaDbServer,
  directory: string,
): Promise<LatencySummary> {
  const fixture = createFixture(keysFile(directory));
  const place = { mariadb, directory };
  const feed = await serveFeed(options, 'latency', place, (url) => fill(url, [fixture], 0));
  const writing = feed.server;
  const reading = await startHttpServer(feed.program);
  const source = { ...feed.source, url: reading.url };

  const answeredAt = new Map<string, number>();
  const heardAt = Array.from({ length: FEED.readers }, () => new Map<string, number>());
  const stop = new AbortController();
  const readers = await Promise.all(
    heardAt.map((heard) => followFeed(source, noteTimes(heard), stop.signal)),
  );
  const failed = Promise.all(readers.map(({ ended }) => ended)).then(() => undefined);

  const tokens: string[] = [];
  await callForEach(writing.url, fixture.creators.slice(0, WRITERS), (user) =>
    login(user, (token) => tokens.push(token)),
  );
  progress(`${FEED.changesPerSecond} changes a second`);
  const create: Operation = cycle(
    tokens.map((token) => createOrg(token, (id) => answeredAt.set(id, performance.now()))),
  );
  const intervalMs = 1000 / FEED.changesPerSecond;
  await Promise.race([
    probe(writing.url, create, { connections: CONNECTIONS, durationMs, intervalMs }),
    failed,
  ]);
  const everybodyHeard = (): boolean =>
    heardAt.every((heard) => [...answeredAt.keys()].every((id) => heard.has(id)));
  await waitFor('every reader has heard of every change', LAST_TIMEOUT_MS, everybodyHeard);
  stop.abort();
  await failed;
  await Promise.all([writing.stop(), reading.stop()]);

  const latencies = heardAt.flatMap((heard) => [...answeredAt].map(([id, at]) => heard.get(id)! - at));
  return {
    changes: answeredAt.size,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    max: Math.max(...latencies),
  };
}

function noteTimes(heard: Map<string, number>): (events: HeardEvent[]) => void {
  return (events) => {
    const now = performance.now();
    for (const { orgId } of events) if (orgId !== undefined && !heard.has(orgId)) heard.set(orgId, now);
  };
}
