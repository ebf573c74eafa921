import type { TestProject } from 'vitest/node';
import { hangReport } from '../../tooling/servers/hang-report.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';

/** A server that runs already, such as MySQL: root without a password on this port of 127.0.0.1. */
const OTHER_SERVER = process.env['TEST_MYSQL_PORT'];

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
  return async () => {
    const hang = await hangReport(server, HANG_SECONDS);
    if (hang !== undefined) console.error(hang);
    await server.close();
  };
}
