import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { aCode, anOrg } from '../support/personas.js';
import { startCluster, startService } from '../support/service.js';
import { exitCode, spawnService, untilListening } from '../support/service-process.js';

describe('a start on existing data', () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

  it('finds accounts, organizations, tokens and codes as they were', async () => {
    const before = await startService({ installation });
    const { org, owner, admin } = await anOrg(before);
    const detail = await owner.get(`/api/orgs/${org.id}`);
    const code = await aCode(owner);
    await before.stop();

    const after = await startService({ installation });

    const { email, password } = owner;
    expect((await after.anyone.post('/api/auth/login', { email, password })).status).toBe(200);
    expect((await owner.at(after).get(`/api/orgs/${org.id}`)).body).toEqual(detail.body);
    expect((await admin.at(after).get('/api/me')).body).toMatchObject({ orgs: [org] });
    expect((await after.anyone.post('/api/auth/code/exchange', { code })).status).toBe(200);
    await after.stop();
  });

  it('after a kill loses no acknowledged write', async () => {
    const killed = spawnService(installation.directory, installation.env);
    const url = await untilListening(killed);
    const emails = [];
    for (let count = 0; count < 20; count += 1) {
      const credentials = { email: `kept-${count}@example.com`, password: 'harbor lantern quiet' };
      const answer = await fetch(`${url}/api/auth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(credentials),
      });
      if (answer.status === 201) emails.push(credentials.email);
    }
    killed.child.kill('SIGKILL');
    await exitCode(killed);

    const after = await startService({ installation });

    expect(emails).toHaveLength(20);
    for (const email of emails) {
      const login = await after.anyone.post('/api/auth/login', { email, password: 'harbor lantern quiet' });
      expect(login.status).toBe(200);
    }
    await after.stop();
  });

  it('with MIGRATIONS=check requires an up-to-date schema', async () => {
    const tooEarly = spawnService(installation.directory, { ...installation.env, MIGRATIONS: 'check' });
    expect(await exitCode(tooEarly)).toBe(1);
    expect(tooEarly.stderr.join('\n')).toMatch(/MIGRATIONS/);

    const migrating = await startService({ installation });
    await migrating.stop();

    const checked = await startService({ installation, env: { MIGRATIONS: 'check' } });
    expect((await checked.anyone.get('/health/ready')).status).toBe(200);
    await checked.stop();
  });

  it.runIf(engine === 'sqlite')(
    'refuses to share an SQLite file with a running process, and says so',
    async () => {
      const first = await startService({ installation });
      const { org, owner } = await anOrg(first);

      const second = spawnService(installation.directory, installation.env);
      expect(await exitCode(second)).toBe(1);
      expect(second.stderr.join('\n')).toMatch(/DATABASE_URL/);
      expect(second.stderr.join('\n')).not.toMatch(/\n\s+at |node_modules/);

      expect((await owner.get(`/api/orgs/${org.id}`)).status).toBe(200);
      await first.stop();
      const third = await startService({ installation });
      await third.stop();
    },
  );

  it.runIf(engine === 'mariadb')(
    'lets several instances start at once on an empty schema and work as one',
    async () => {
      const cluster = await startCluster(4);
      const [one, two, three] = cluster.instances;

      const { org, owner, admin } = await anOrg(one!);
      expect(
        (await owner.at(two!).patch(`/api/orgs/${org.id}/members/${admin.id}`, { role: 'member' })).status,
      ).toBe(200);
      const refused = await admin.at(three!).delete(`/api/orgs/${org.id}/members/${owner.id}`);

      expect(refused.status).toBe(403);
      await cluster.stop();
    },
  );
});
