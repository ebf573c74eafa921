import { rm } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { aServiceCaller } from '../support/service-caller.js';
import { engine } from '../support/engine.js';
import { anAccount } from '../support/personas.js';
import { startCluster, startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('health', () => {
  it.each(['/health/live', '/health/ready'])('%s answers 200, and reveals no internals', async (path) => {
    const answer = await service.anyone.get(path);

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'ok' });
    expect(answer.text).not.toMatch(/\d|sqlite|mysql|mariadb|localhost|password|version/i);
  });

  it.runIf(engine === 'mariadb')('distinguishes an outage of the database from a dead process', async () => {
    const server = await MariaDbServer.start();
    const cluster = await startCluster(1, { mariadbPort: server.port });
    const instance = cluster.instances[0]!;
    const ada = await anAccount(instance, 'ada');
    const billing = await aServiceCaller(instance, 'introspect', 'memberships');

    await server.close();

    expect((await instance.anyone.get('/health/live')).status).toBe(200);
    const ready = await instance.anyone.get('/health/ready');
    expect(ready).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    const { email, password } = ada;
    for (const answer of [
      await ada.get('/api/me'),
      await ada.post('/api/orgs', { name: 'Engines' }),
      await instance.anyone.post('/api/auth/login', { email, password }),
      await instance.anyone.post('/api/auth/code/exchange', { code: 'A'.repeat(43) }),
      await billing.introspect({ token: ada.token }),
      await billing.get(`/api/memberships?userId=${ada.id}`),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    await instance.stop();
    // Its database went with the server.
    await rm(cluster.installation.directory, { recursive: true });
  });
});
