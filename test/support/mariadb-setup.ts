import type { TestProject } from 'vitest/node';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';

/** A server that runs already, such as MySQL: root without a password on this port of 127.0.0.1. */
const OTHER_SERVER = process.env['TEST_MYSQL_PORT'];

/** One private server for the whole run; each test file gets a schema of its own on it. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (OTHER_SERVER !== undefined) {
    project.provide('mariadbPort', Number(OTHER_SERVER));
    return undefined;
  }
  const server = await MariaDbServer.start();
  project.provide('mariadbPort', server.port);
  return () => server.close();
}
