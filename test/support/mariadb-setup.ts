import type { TestProject } from 'vitest/node';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';

/** One private server for the whole run; each test file gets a schema of its own on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await MariaDbServer.start();
  project.provide('mariadbPort', server.port);
  return () => server.close();
}
