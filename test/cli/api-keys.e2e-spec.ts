import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertApiKey } from '../support/api-keys.js';
import { accounts, accountsAlone, accountsJson, BY_ROOT, failure } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { anOperator } from '../support/operators.js';
import { type Account, anAccount, anOrg, anUnknownId, type Cast } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { aServiceClient, type ServiceClient } from '../support/services.js';

const A_TIME = expect.stringMatching(/Z$/) as string;

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off' } });
const { installation, db } = service;
afterAll(() => service.stop());

/** Ends the command with SIGKILL before its nth transaction commits. */
const killedAtCommit = (nth: number) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    import { subscribe } from 'node:diagnostics_channel';
    let left = ${nth};
    const count = (sql) => {
      if (/^COMMIT/.test(sql) && --left === 0) process.kill(process.pid, 'SIGKILL');
    };
    for (const engine of ['sqlite', 'mysql']) subscribe('accounts.' + engine, count);`)}`,
});

describe('accounts api-keys', () => {
  let cast: Cast;
  let other: Account;
  let billing: ServiceClient;
  let ledger: ServiceClient;

  beforeAll(async () => {
    [cast, other] = [await anOrg(service), await anAccount(service)];
    billing = await aServiceClient(db, ['introspect', 'keys']);
    ledger = await aServiceClient(db, ['keys']);
  });
  beforeEach(() => db.query('DELETE FROM api_keys'));

  const run = (...parameters: string[]) =>
    accountsJson<Record<string, unknown>>(installation, ['api-keys', ...parameters]);
  const listed = async (...parameters: string[]) => (await run('list', ...parameters)).map(({ id }) => id);
  const revokedSince = async (known: Awaited<ReturnType<typeof knownEvents>>) =>
    (await eventsSince(db, known)).filter(({ type }) => type === 'key.revoked');

  it('lists all, or those of a user, of an organization or for a service, newest first', async () => {
    const { org, admin } = cast;
    const own = await insertApiKey(service, admin, billing);
    const ofOrg = await insertApiKey(service, admin, ledger, { orgId: org.id, role: 'admin' });
    const expired = await insertApiKey(service, other, billing, { expiresAt: 1 });
    const suspended = await insertApiKey(service, other, ledger, { orgId: org.id });

    const all = [suspended, expired, ofOrg, own].map(({ id }) => id);
    expect(await listed()).toEqual(all);
    expect(await listed('--user', admin.email)).toEqual([ofOrg.id, own.id]);
    expect(await listed('--org', org.id)).toEqual([suspended.id, ofOrg.id]);
    expect(await listed('--service', billing.name)).toEqual([expired.id, own.id]);
    expect(await listed('--limit', '1')).toEqual([suspended.id]);

    const [shown] = await run('list', '--user', admin.id, '--limit', '1');
    expect(shown).toEqual({
      id: ofOrg.id,
      name: 'nightly export',
      audience: ledger.name,
      role: 'admin',
      state: 'active',
      createdAt: A_TIME,
      expiresAt: A_TIME,
      lastUsedAt: null,
      user: { id: admin.id, email: admin.email },
      orgId: org.id,
    });
    const { stdout } = await accounts(installation, ['api-keys', 'list']);
    expect(stdout.split('\n').map((line) => /active|suspended|expired/.exec(line)?.[0])).toEqual([
      'suspended',
      'expired',
      'active',
      'active',
      undefined,
    ]);
    expect(stdout).toContain(`${admin.email} in ${org.id}  never used  nightly export\n`);
  });

  it('revokes one, of an operator too, with an event of the user or of the organization', async () => {
    const { org, admin } = cast;
    const support = await anOperator(service, 'support');
    const own = await insertApiKey(service, support, billing);
    const ofOrg = await insertApiKey(service, admin, billing, { orgId: org.id });
    const known = await knownEvents(db);
    for (const { id } of [own, ofOrg])
      expect(await run('revoke', id, ...BY_ROOT)).toEqual([{ id, changed: true }]);

    expect(await listed()).toEqual([]);
    const by = { actor_type: 'operator', actor_id: 'root', reason: 'a test', type: 'key.revoked' };
    expect(await revokedSince(known)).toMatchObject([
      { ...by, user_id: support.id, org_id: null, data: { keyId: own.id, reason: 'operator' } },
      { ...by, user_id: admin.id, org_id: org.id, data: { keyId: ofOrg.id, reason: 'operator' } },
    ]);
    const gone = failure(2, /^error: there is no API key [-0-9a-f]+, or it was revoked\n$/);
    for (const id of [own.id, anUnknownId()])
      expect(await accounts(installation, ['api-keys', 'revoke', id, ...BY_ROOT])).toEqual(gone);
  });

  it('does not show an API key that was given instead of its id', async () => {
    const { id, key } = await insertApiKey(service, other, billing);
    const refused = failure(2, 'error: expected the id of an API key\n');
    expect(await accounts(installation, ['api-keys', 'revoke', key, ...BY_ROOT])).toEqual(refused);
    expect(await listed()).toEqual([id]);
  });

  it('revokes all of a user, of an organization or for a service, and nothing else', async () => {
    const { org, admin } = cast;
    const make = async () => {
      await db.query('DELETE FROM api_keys');
      return {
        own: (await insertApiKey(service, admin, billing)).id,
        ofOrg: (await insertApiKey(service, admin, ledger, { orgId: org.id })).id,
        another: (await insertApiKey(service, other, billing)).id,
      };
    };
    const revokeAll = (...owner: string[]) => run('revoke-all', ...owner, ...BY_ROOT);
    const first = await make();
    expect(await revokeAll('--user', admin.email)).toEqual([{ userId: admin.id, revoked: 2 }]);
    expect(await listed()).toEqual([first.another]);
    expect(await revokeAll('--user', admin.email)).toEqual([{ userId: admin.id, revoked: 0 }]);
    const second = await make();
    expect(await revokeAll('--org', org.id)).toEqual([{ orgId: org.id, revoked: 1 }]);
    expect(await listed()).toEqual([second.another, second.own]);
    const third = await make();
    expect(await revokeAll('--service', billing.name)).toEqual([{ audience: billing.name, revoked: 2 }]);
    expect(await listed()).toEqual([third.ofOrg]);
  });

  it('continues what a kill interrupted, with one event for each API key', async () => {
    const { org, admin } = cast;
    const known = await knownEvents(db);
    const made: string[] = [];
    for (const place of times(230, (index) => index)) {
      const orgId = place % 2 === 0 ? org.id : null;
      made.push((await insertApiKey(service, admin, billing, { orgId })).id);
    }
    const command = ['api-keys', 'revoke-all', '--service', billing.name, ...BY_ROOT];
    const killed = await accountsAlone(installation, command, { env: killedAtCommit(120) });
    expect(killed.code).toBeNull();
    const between = (await revokedSince(known)).length;
    expect(between).toBe(119);
    expect(await listed()).toHaveLength(made.length - between);

    expect(await accountsJson(installation, command)).toMatchObject([{ revoked: made.length - between }]);
    const named = (await revokedSince(known)).map(({ data }) => (data as { keyId: string }).keyId);
    expect(named.toSorted()).toEqual(made.toSorted());
  });
});
