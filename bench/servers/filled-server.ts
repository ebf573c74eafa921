import { median } from '../../tooling/median.ts';
import { type HttpServer, type Program, startHttpServer } from './http-server.ts';

/**
 * The program, running on rows that it did not write itself.
 *
 * @param starts how often it starts to tell how long that takes: the median is told
 */
export async function startFilled(
  program: Program,
  fill: () => Promise<void>,
  starts = 1,
): Promise<HttpServer> {
  // The first start makes the tables. It ends before they are filled: SQLite has one process for a file.
  const first = await startHttpServer(program);
  await first.stop();
  await fill();

  let server = await startHttpServer(program);
  const startMs = [server.startMs];
  while (startMs.length < starts) {
    await server.stop();
    server = await startHttpServer(program);
    startMs.push(server.startMs);
  }
  return { ...server, startMs: median(startMs)! };
}
