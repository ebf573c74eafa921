import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { examine } from '../support/doctor.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { startOwnService } from '../support/service.js';

const CLAIM = 'every acknowledged change survives a crash of the database server';
const COST = 'a crash can lose changes of the last second that were acknowledged';

describe.runIf(engine === 'mariadb')(
  'a database server that acknowledges commits before they are on its disk',
  () => {
    let server: MariaDbServer;
    let installation: Installation;

    beforeAll(async () => {
      server = await MariaDbServer.start({ args: ['--log-bin', '--binlog-format=MIXED', '--sync-binlog=0'] });
      await server.execute('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
      installation = await anInstallation({ mariadbPort: server.port });
    });
    afterAll(async () => {
      await installation.remove();
      await server.close();
    });

    it('is a warning at start and a red line of the doctor, each with what it costs', async () => {
      const service = await startOwnService({ installation });
      const { code, lines } = await examine(installation);
      await service.stop();

      const settings = ['innodb_flush_log_at_trx_commit=2', 'sync_binlog=0'];
      const warnings = service.logs
        .map((line) => JSON.parse(line) as object)
        .filter((line) => 'settings' in line);
      expect(warnings).toMatchObject([
        {
          level: 40,
          msg: `the settings of the database are not durable: ${COST}`,
          host: hostOf(server),
          settings,
        },
      ]);
      expect(code).toBe(1);
      expect(lines.join('\n')).toContain(
        [`RED    ${CLAIM}`, `         ${hostOf(server)} has ${settings.join(', ')}: ${COST}`].join('\n'),
      );
    });

    it('is neither once it is set to 1', async () => {
      await server.execute('SET GLOBAL innodb_flush_log_at_trx_commit = 1, GLOBAL sync_binlog = 1');

      const service = await startOwnService({ installation });
      const { lines } = await examine(installation);
      await service.stop();

      expect(service.logs.filter((line) => line.includes('not durable'))).toEqual([]);
      expect(lines).toContain(`green  ${CLAIM}`);
    });
  },
);

function hostOf({ port }: MariaDbServer): string {
  return `127.0.0.1:${port}`;
}
