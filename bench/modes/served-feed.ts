import type { FeedSource } from '../load/feed-reader.ts';
import type { Options } from '../options.ts';
import { databaseName } from '../servers/contenders.ts';
import { startFilled } from '../servers/filled-server.ts';
import type { HttpServer, Program } from '../servers/http-server.ts';
import { addFeedReader } from '../servers/service-credentials.ts';
import type { MariaDbServer } from '../../tooling/servers/mariadb.ts';
import { programOf } from './program.ts';

export interface ServedFeed {
  program: Program;
  server: HttpServer;
  source: FeedSource;
  databaseUrl: string;
}

/** The service on a database of its own, and a service that may follow its feed. */
export async function serveFeed(
  options: Options,
  name: string,
  { mariadb, directory }: { mariadb: MariaDbServer; directory: string },
  fill: (databaseUrl: string) => Promise<void>,
): Promise<ServedFeed> {
  const databaseUrl = await mariadb.createDatabase(databaseName(name));
  const program = programOf(options, { script: options.serviceScript, databaseUrl }, directory);
  let authorization = '';
  const server = await startFilled(program, async () => {
    await fill(databaseUrl);
    authorization = await addFeedReader(program);
  });
  return { program, server, source: { url: server.url, authorization }, databaseUrl };
}
