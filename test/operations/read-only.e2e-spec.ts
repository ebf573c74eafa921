import { expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts, BY_ROOT, examine, failure } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { unavailable } from '../support/expected.js';
import { anInstallation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { metricsUrl, scrape } from '../support/scrape.js';
import { type Instance, launch, NO_LIMITS } from '../support/service.js';

const CLAIM = 'the database accepts changes';
const REFUSED = 'running with the --read-only option';

// SQLite has no such setting.
it.runIf(engine === 'mariadb')(
  'a read-only database is named by answers, readiness, metric, doctor and log',
  async () => {
    const server = await MariaDbServer.start();
    const installation = await anInstallation({ mariadbPort: server.port });
    // Root may write to a read-only server.
    await server.execute("CREATE USER accounts@'%' IDENTIFIED BY 'a long secret'");
    await server.execute("GRANT ALL ON *.* TO accounts@'%'");
    await server.execute("REVOKE SUPER, READ_ONLY ADMIN ON *.* FROM accounts@'%'");
    const url = Object.assign(new URL(installation.db.url), {
      username: 'accounts',
      password: 'a long secret',
    });
    Object.assign(installation.env, { DATABASE_URL: url.href });
    const launched = (): Promise<Instance> =>
      launch(installation, { ...NO_LIMITS, METRICS_PORT: '0' }).listening;
    const isNamed = ({ anyone }: Instance) =>
      waitFor('it is named', hangTimeoutMs(), async () => {
        const { status, body } = await anyone.get<{ status: string; database: string }>('/health/ready');
        expect(status).toBe(200);
        return body.status === 'degraded' && body.database === 'read_only';
      });
    const errorsIn = ({ logs }: Instance) =>
      logs.filter((line) => line.includes('the database is read-only'));
    const isCounted = async ({ logs }: Instance, value: number) => {
      const metrics = await metricsUrl(logs);
      await waitFor('the metric follows', hangTimeoutMs(), async () => {
        return (await scrape(metrics)).value('accounts_ready', { part: 'database' }) === value;
      });
    };

    const first = await launched();
    const ada = await anAccount(first, 'ada');
    await isCounted(first, 1);
    expect(await examine(installation)).toMatchObject({ code: 0 });

    await server.execute('SET GLOBAL read_only = 1');
    const refused = await ada.post<{ detail: string }>('/api/orgs', { name: 'Analytical Engines' });
    expect(refused).toMatchObject(unavailable);
    expect(refused.body.detail).toBe(
      'The database accepts no changes right now. Nothing was changed. Repeat the request later.',
    );
    expect((await ada.get('/api/me')).status).toBe(200);
    await isNamed(first);
    await isCounted(first, 0);
    expect(await accounts(installation, ['users', 'create', 'grace@example.com', ...BY_ROOT])).toEqual(
      failure(2, /^DATABASE_URL: the database is read-only \([^\n]+\)\n$/),
    );
    const { code, lines } = await examine(installation);
    const red = lines.findIndex((line) => line.startsWith('RED'));
    expect(code).toBe(1);
    expect(lines.slice(red, red + 3)).toEqual([
      `RED    ${CLAIM}`,
      expect.stringContaining(REFUSED),
      expect.stringContaining('SET GLOBAL read_only = 0'),
    ]);
    expect(lines.filter((line) => line.startsWith('RED'))).toHaveLength(1);

    // Without a request, the row of the instance is what is rejected.
    const second = await launched();
    await isNamed(second);

    await server.execute('SET GLOBAL read_only = 0');
    expect((await ada.post('/api/orgs', { name: 'Analytical Engines' })).status).toBe(201);
    expect(await examine(installation)).toMatchObject({ code: 0 });
    for (const instance of [first, second]) {
      expect(errorsIn(instance)).toHaveLength(1);
      await instance.stop();
    }
    await installation.remove();
    await server.stop();
  },
);
