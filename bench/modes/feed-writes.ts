import { fill } from '../fixture/fill.ts';
import { createFixture } from '../fixture/fixture.ts';
import { followFeed } from '../load/feed-reader.ts';
import type { Options } from '../options.ts';
import { FEED } from '../plan.ts';
import type { HttpServer } from '../servers/http-server.ts';
import { startLoadDriver } from '../servers/load-driver.ts';
import { keysFile } from '../servers/keys-file.ts';
import type { MariaDbServer } from '../../tooling/servers/mariadb.ts';
import { type Contest, runContest } from './contest.ts';
import { serveFeed } from './served-feed.ts';

const OPERATIONS = ['create organization', 'add member', 'change role', 'remove member'] as const;
const LONELY = 'no reader';
const HEARD = `${FEED.readers} readers`;

/** Compares writes of which services wait to hear with writes to which nobody listens. */
export async function feedWrites(
  options: Options,
  mariadb: MariaDbServer,
  directory: string,
): Promise<Contest> {
  const fixture = createFixture(keysFile(directory));
  const servers: Record<string, HttpServer> = {};
  const stop = new AbortController();
  const readers: Promise<void>[] = [];
  for (const name of [LONELY, HEARD]) {
    const { server, source } = await serveFeed(options, name, { mariadb, directory }, (url) =>
      fill(url, [fixture], 0),
    );
    servers[name] = server;
    if (name === LONELY) continue;
    for (let reader = 0; reader < FEED.readers; reader += 1) {
      const { ended } = await followFeed(source, () => undefined, stop.signal);
      readers.push(ended);
    }
  }
  const contenders = { names: [LONELY, HEARD], servers, databasePid: mariadb.pid };
  const driver = startLoadDriver();
  const contest = await Promise.race([
    runContest(options, OPERATIONS, contenders, () => fixture, driver),
    Promise.all(readers).then(() => Promise.reject(new Error('every reader has ended'))),
  ]);
  stop.abort();
  for (const server of Object.values(servers)) await server.stop();
  return contest;
}
