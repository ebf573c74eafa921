import { performance } from 'node:perf_hooks';
import { cursorBefore, seedFeed } from '../fixture/told-events.ts';
import { type FeedSource, PAGE, readFeed } from '../load/feed-reader.ts';
import type { Options } from '../options.ts';
import { FEED } from '../plan.ts';
import { progress } from '../progress.ts';
import type { BacklogSummary } from '../report/feed-report.ts';
import { inTurn } from '../rounds.ts';
import type { MariaDbServer } from '../../tooling/servers/mariadb.ts';
import { serveFeed } from './served-feed.ts';

/** Each reads the last of the feed, which is all of the smallest. */
const READERS = 2;

interface Feed extends FeedSource {
  size: number;
  cursor: string;
  eventsPerSecond: number[];
}

/** How fast a backlog is read from feeds of several sizes. */
export async function feedBacklog(
  options: Options,
  sizes: number[],
  mariadb: MariaDbServer,
  directory: string,
): Promise<BacklogSummary[]> {
  const feeds: Feed[] = [];
  const servers = [];
  for (const size of sizes) {
    const name = `feed of ${size}`;
    const { server, source, databaseUrl } = await serveFeed(options, name, { mariadb, directory }, (url) =>
      seedFeed(url, size),
    );
    servers.push(server);
    const cursor = await cursorBefore(databaseUrl, FEED.backlog, size);
    feeds.push({ ...source, size, cursor, eventsPerSecond: [] });
    progress(`${name} is there`);
  }
  for (const feed of feeds) await readBacklogs(feed);
  for (let round = 0; round < options.plan.rounds; round += 1) {
    for (const feed of inTurn(feeds, round)) feed.eventsPerSecond.push(await readBacklogs(feed));
  }
  for (const server of servers) await server.stop();
  return feeds;
}

/** @returns events in a second, over all readers */
async function readBacklogs(feed: Feed): Promise<number> {
  const begun = performance.now();
  await Promise.all(Array.from({ length: READERS }, () => readBacklog(feed)));
  return (READERS * FEED.backlog * 1000) / (performance.now() - begun);
}

async function readBacklog(feed: Feed): Promise<void> {
  let read = 0;
  for (let after = feed.cursor; read < FEED.backlog;) {
    const { events, next } = await readFeed(feed, { after, limit: `${PAGE}` });
    if (events.length === 0)
      throw new Error(`the feed of ${feed.size} ended after ${read} of ${FEED.backlog} events`);
    read += events.length;
    after = next;
  }
}
