import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { hashApiKey, newApiKey } from '../../src/api-keys/api-key-format.js';
import { LiveTokens } from '../../src/auth/authentication.guard.js';
import { LastUses } from '../../src/services/last-uses.js';
import { openDataLayer } from '../support/data-source.js';
import { type Executed, recordStatements } from '../support/executed-statements.js';
import { insertRow } from '../support/rows.js';
import { wired } from '../support/wired.js';

const HOUR_MS = 3_600_000;
const data = await openDataLayer();
const { db, dataSource } = data;
const app = await wired(data);
const tokens = app.get(LiveTokens, { strict: false });
const uses = app.get(LastUses, { strict: false });
afterAll(async () => {
  await uses.onApplicationShutdown();
  await data.close();
});

const [userId, orgId] = [randomUUIDv7(), randomUUIDv7()];
const executed: Executed[] = recordStatements(dataSource);

async function aKey(more: { org_id?: string } = {}): Promise<{ id: string; key: string }> {
  const [id, key] = [randomUUIDv7(), newApiKey()];
  const times = { created_at: Date.now(), expires_at: Date.now() + HOUR_MS };
  const row = {
    id,
    hash: hashApiKey(key),
    user_id: userId,
    org_id: null,
    audience: 'billing',
    role: 'member',
  };
  await insertRow(db, 'api_keys', { ...row, name: 'a key', ...times, ...more });
  return { id, key };
}

const lastUse = async (id: string): Promise<unknown> => {
  await uses.onApplicationShutdown();
  return (await db.query('SELECT last_used_at AS last FROM api_keys WHERE id = ?', [id]))[0]!['last'];
};

/** The statements of a check, as verb and table. */
async function statementsOf(check: () => Promise<unknown>): Promise<string[]> {
  executed.length = 0;
  await check();
  await uses.onApplicationShutdown();
  return executed.map(({ sql, verb }) => `${verb} ${/(?:FROM|UPDATE|JOIN) (\w+)/.exec(sql)?.[1]}`);
}

beforeAll(async () => {
  await insertRow(db, 'users', { id: userId });
  await insertRow(db, 'orgs', { id: orgId });
  await insertRow(db, 'members', { org_id: orgId, user_id: userId });
  await insertRow(db, 'services', { name: 'billing', allow: 'introspect,keys', created_at: 1 });
});
beforeEach(async () => {
  await db.query("UPDATE services SET allow = 'introspect,keys'");
});

it('the check of a key takes one statement, of a key of an organization two, of a wrong checksum none', async () => {
  const [{ id, key }, ofOrg] = [await aKey(), await aKey({ org_id: orgId })];
  expect(await statementsOf(() => tokens.find(key))).toEqual(['SELECT api_keys', 'UPDATE api_keys']);
  expect(await statementsOf(() => tokens.find(key))).toEqual(['SELECT api_keys']);
  await statementsOf(() => tokens.find(ofOrg.key));
  expect(await statementsOf(() => tokens.find(ofOrg.key))).toHaveLength(2);
  const changedAt = (index: number): string =>
    key.slice(0, index) + (key[index] === 'a' ? 'b' : 'a') + key.slice(index + 1);
  for (const wrong of [changedAt(key.length - 1), changedAt(4), `${key}a`, 'ack_', `ack_${id}`])
    expect(await statementsOf(() => tokens.find(wrong)), wrong).toEqual([]);
});

it('the use of a key is noted to the hour, and only if the key was accepted', async () => {
  const [refused, { id, key }] = [await aKey(), await aKey()];
  await db.query("UPDATE services SET allow = 'introspect'");
  expect(await tokens.find(refused.key)).toEqual({ kind: 'refused', reason: 'key_inactive' });
  await db.query("UPDATE services SET allow = 'keys'");
  await tokens.find(refused.key, ({ aud }) => aud === 'ledger');
  expect(await lastUse(refused.id)).toBeNull();
  await db.query('DELETE FROM members');
  const ofOrg = await aKey({ org_id: orgId });
  expect(await tokens.find(ofOrg.key)).toEqual({ kind: 'refused', reason: 'key_inactive' });
  expect(await lastUse(ofOrg.id)).toBeNull();
  await db.query('UPDATE users SET email_verified_at = NULL');
  const strict = await wired({ env: { ...data.env, emailVerification: 'required' }, dataSource });
  const unverified = await strict.get(LiveTokens, { strict: false }).find(key);
  await strict.get(LastUses, { strict: false }).onApplicationShutdown();
  expect([unverified.kind, await lastUse(id)]).toEqual(['refused', null]);
  const before = Date.now();
  expect((await tokens.find(key)).kind).toBe('live_key');
  const hour = Number(await lastUse(id));
  expect([hour % HOUR_MS, hour > before - HOUR_MS, hour <= Date.now()]).toEqual([0, true, true]);
  await db.query('UPDATE api_keys SET last_used_at = ? WHERE id = ?', [hour + HOUR_MS, id]);
  await tokens.find(key);
  expect(await lastUse(id)).toBe(hour + HOUR_MS);
});
