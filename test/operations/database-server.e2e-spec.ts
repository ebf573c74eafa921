import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { examine } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';

const CLAIM = 'every acknowledged change survives a crash of the database server';
const COST = 'a crash can lose changes of the last second that were acknowledged';

describe.runIf(engine === 'mariadb')('a database server of its own', () => {
  let server: MariaDbServer;
  let installation: Installation;
  let host: string;

  beforeAll(async () => {
    server = await MariaDbServer.start({ args: ['--log-bin', '--binlog-format=MIXED', '--sync-binlog=0'] });
    host = `127.0.0.1:${server.port}`;
    installation = await anInstallation({ mariadbPort: server.port });
  });
  afterAll(async () => {
    await server.close();
    // Its database went with the server.
    await rm(installation.directory, { recursive: true });
  });

  it('that acknowledges commits before they are on its disk is a warning and a red line, with what it costs', async () => {
    await server.execute('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
    const service = await startOwnService({ installation });
    const { code, lines } = await examine(installation);
    await service.stop();

    const settings = ['innodb_flush_log_at_trx_commit=2', 'sync_binlog=0'];
    const warnings = service.logs
      .map((line) => JSON.parse(line) as object)
      .filter((line) => 'settings' in line);
    const msg = `the settings of the database are not durable: ${COST}`;
    expect(warnings).toMatchObject([{ level: 40, msg, host, settings }]);
    expect(code).toBe(1);
    expect(lines.join('\n')).toContain(
      [`RED    ${CLAIM}`, `         ${host} has ${settings.join(', ')}: ${COST}`].join('\n'),
    );
  });

  it('that has durable settings is no warning, and one that is gone is 503, and no dead service', async () => {
    await server.execute('SET GLOBAL innodb_flush_log_at_trx_commit = 1, GLOBAL sync_binlog = 1');
    const service = await startOwnService({ installation });
    expect((await examine(installation)).lines).toContain(`green  ${CLAIM}`);
    expect(service.logs.filter((line) => line.includes('not durable'))).toEqual([]);
    const ada = await anAccount(service, 'ada');
    const billing = await aServiceCaller(service, 'introspect', 'memberships');

    await server.close();

    expect((await service.anyone.get('/health/live')).status).toBe(200);
    const ready = await service.anyone.get('/health/ready');
    expect(ready).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    const { email, password } = ada;
    for (const answer of [
      await ada.get('/api/me'),
      await ada.post('/api/orgs', { name: 'Engines' }),
      await service.anyone.post('/api/auth/login', { email, password }),
      await service.anyone.post('/api/auth/code/exchange', { code: 'A'.repeat(43) }),
      await billing.introspect({ token: ada.token }),
      await billing.get(`/api/memberships?userId=${ada.id}`),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    await service.stop();
  });
});
