import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hangReport } from '../../tooling/servers/hang-report.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { engine } from '../support/engine.js';

describe.runIf(engine === 'mariadb')('the report on a server of the tests that hangs', () => {
  let server: MariaDbServer;

  beforeAll(async () => {
    server = await MariaDbServer.start();
  });
  afterAll(() => server.close());

  it('is none while no statement runs for long', async () => {
    // A busy machine may be too slow to answer once.
    await vi.waitFor(async () => expect(await hangReport(server, 1)).toBeUndefined(), hangTimeoutMs());
  });

  it('tells what waits, and who holds the lock it waits for', async () => {
    await server.execute('CREATE TABLE test.held (id integer)');
    const holder = await createConnection(server.url);
    await holder.query('LOCK TABLES held WRITE');
    const waiting = server.execute('ALTER TABLE test.held ADD COLUMN name text');

    await vi.waitFor(async () => {
      const report = await hangReport(server, 1);
      expect(report).toMatch(/ \| Waiting for table metadata lock \| ALTER TABLE test\.held /);
      expect(report).toMatch(/^\d+ \| MDL_SHARED_NO_READ_WRITE \| .* \| held$/m);
      expect(report).toContain('INNODB MONITOR OUTPUT');
      expect(report).toMatch(/^\d+ threads: mariadbd S \w+$/m);
    }, hangTimeoutMs());
    await holder.query('UNLOCK TABLES');
    await waiting;
    await holder.end();
  });

  it('says so when nothing is answered', async () => {
    await server.freeze();
    expect(await hangReport(server, 1)).toMatch(/TIMEDOUT|not within/);
    server.thaw();
  });
});
