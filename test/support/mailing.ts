import { afterAll } from 'vitest';
import { MailServer } from './mail-server.js';
import { type Cluster, type Service, startCluster } from './service.js';
import type { Environment } from './service-process.js';

/** For a whole file, which calls this at its top: processes of their own that send their emails to a server in the test. */
export async function startMailing(
  env: Environment = {},
  size = 1,
): Promise<Cluster & { service: Service; mailServer: MailServer }> {
  const mailServer = await MailServer.start();
  const cluster = await startCluster(size, { env: { ...mailServer.env, ...env } });
  afterAll(async () => {
    await cluster.stop();
    await mailServer.stop();
  });
  return { ...cluster, service: cluster.instances[0]!, mailServer };
}
