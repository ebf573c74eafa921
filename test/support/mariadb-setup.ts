import type { TestProject } from 'vitest/node';
import { hangReport } from '../../tooling/servers/hang-report.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';

/** A server that runs already, such as MySQL: root without a password on this port of 127.0.0.1. */
const OTHER_SERVER = process.env['TEST_MYSQL_PORT'];

const LOOK_FOR_HANGS_MS = 15_000;
/** No statement of a test takes as long. */
const HANG_SECONDS = 60;

/** One private server for the whole run; each test file gets a schema of its own on it. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (OTHER_SERVER !== undefined) {
    project.provide('mariadbPort', Number(OTHER_SERVER));
    return undefined;
  }
  const server = await MariaDbServer.start();
  project.provide('mariadbPort', server.port);
  const endWatch = explainHangs(server);
  return () => {
    endWatch();
    return server.close();
  };
}

/** Ends the output of a run that failed with the first hang of the server, which tests can only tell as a time that is over. */
function explainHangs(server: MariaDbServer): () => void {
  let report: string | undefined;
  const look = async (): Promise<void> => {
    report ??= await hangReport(server, HANG_SECONDS);
  };
  const watch = setInterval(() => void look(), LOOK_FOR_HANGS_MS).unref();
  process.once('exit', (code) => {
    if (code !== 0 && report !== undefined) console.error(report);
  });
  return () => clearInterval(watch);
}
