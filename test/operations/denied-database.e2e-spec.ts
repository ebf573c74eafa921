import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEMA } from '../../src/app/schema.js';
import { parseEnv } from '../../src/config/env.js';
import { migrate } from '../../src/database/migrate.js';
import { atOnce, times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { unavailable } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, anAccount } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';

const REQUESTS = 24;

describe.runIf(engine === 'mariadb')('a database account that is refused something', () => {
  let installation: Installation;
  let service: Instance;
  let user: string;
  let database: string;
  let ada: Account;

  beforeAll(async () => {
    installation = await anInstallation();
    await migrate(parseEnv(installation.env), SCHEMA);
    const url = new URL(installation.db.url);
    database = url.pathname.slice(1);
    user = `${database}_run@'%'`;
    await installation.db.query(
      `CREATE USER ${user} IDENTIFIED BY 'a long secret' WITH MAX_USER_CONNECTIONS 2`,
    );
    for (const table of await tables()) {
      await installation.db.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${database}.${table} TO ${user}`);
    }
    Object.assign(url, { username: `${database}_run`, password: 'a long secret' });
    const env = { ...installation.env, DATABASE_URL: url.href, MIGRATIONS: 'check' };
    service = await startOwnService({ installation: { ...installation, env } });
    ada = await anAccount(service);
  });
  afterAll(async () => {
    await service.stop();
    await installation.db.query(`DROP USER ${user}`);
    await installation.remove();
  });

  const tables = async (): Promise<string[]> => {
    const rows = await installation.db.query(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ?',
      [database],
    );
    return rows.map(({ name }) => String(name));
  };

  it('makes others wait, or the service unavailable to them, where the server grants no further connection', async () => {
    const answers = await atOnce(times(REQUESTS, (n) => () => ada.post('/api/orgs', { name: `Org ${n}` })));

    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([]);
    expect(statuses).toContain(201);
    expect((await ada.post('/api/orgs', { name: 'Another' })).status).toBe(201);
  });

  it('makes it unavailable where a column is refused, until it is granted', async () => {
    await installation.db.query(`REVOKE SELECT ON ${database}.users FROM ${user}`);
    await installation.db.query(`GRANT SELECT (id) ON ${database}.users TO ${user}`);
    expect(await ada.get('/api/me')).toMatchObject(unavailable);
    await installation.db.query(`GRANT SELECT ON ${database}.users TO ${user}`);
    expect((await ada.get('/api/me')).status).toBe(200);
  });
});
