import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { UserActor } from '../../src/access/principal.js';
import { unchanged } from '../../src/orgs/state/org-changes.js';
import { ShortCircuitResponse, type Write } from '../../src/requests/write.js';
import { openDataLayer } from '../support/data-source.js';
import { orgChanges } from '../support/org-changes.js';
import { anUnknownId } from '../support/personas.js';
import { Problem } from '../../src/problems/problem.js';

const data = await openDataLayer();
const changes = orgChanges(data);
afterAll(() => data.close());

describe('a change of an organization', () => {
  let orgId: string;
  let write: Write;

  beforeEach(async () => {
    orgId = anUnknownId();
    const actor: UserActor = {
      kind: 'user',
      id: anUnknownId(),
      sessionId: anUnknownId(),
      isDelegated: false,
      requestId: 'test',
      address: '127.0.0.1',
    };
    write = { actor, status: 200, dryRun: false, withRemedy: false };
    const { id } = actor;
    await data.db.query("INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, 'none', 1)", [
      id,
      `${id}@example.com`,
    ]);
    await data.db.query("INSERT INTO orgs (id, name, revision, created_at) VALUES (?, 'Org', 1, 1)", [orgId]);
  });

  const revision = async (): Promise<unknown> =>
    Number((await data.db.query('SELECT revision FROM orgs WHERE id = ?', [orgId]))[0]?.['revision']);
  const keys = async (): Promise<number> =>
    (await data.db.query('SELECT key_hash FROM idempotency_keys WHERE user_id = ?', [write.actor.id])).length;
  const deleteSoftly = (): Promise<unknown> =>
    data.db.query('UPDATE orgs SET deleted_at = 1, purge_at = 2 WHERE id = ?', [orgId]);
  const nothing = async (): Promise<object> => ({});

  it('raises the revision, and records it with its events', async () => {
    const changed = await changes.inOrg(write, orgId, async (_, org) => {
      await org.record({ type: 'org.renamed' });
      return { revision: org.revision };
    });
    expect(changed).toEqual({ answer: { revision: 2 }, revision: 2 });
    expect(await revision()).toBe(2);
    const events = await data.db.query('SELECT org_revision, actor_id FROM events WHERE org_id = ?', [orgId]);
    expect(events).toEqual([{ org_revision: 2, actor_id: write.actor.id }]);
  });

  it('keeps the revision and its key if it changes nothing', async () => {
    const same = async () => unchanged({ same: true });
    const key = { keyHash: 'k', fingerprint: 'f' };
    expect(await changes.inOrg(write, orgId, same)).toEqual({ answer: { same: true }, revision: 1 });
    expect(await changes.inOrg({ ...write, key }, orgId, same)).toEqual({
      answer: { same: true },
      revision: 1,
    });
    expect([await revision(), await keys()]).toEqual([1, 1]);

    const again = changes.inOrg({ ...write, key }, orgId, async () => ({ other: true }));
    await expect(again).rejects.toBeInstanceOf(ShortCircuitResponse);
    await expect(again).rejects.toMatchObject({ body: { same: true } });
    expect(await revision()).toBe(1);
  });

  it('keeps nothing of a dry run, whether it changes something or not', async () => {
    const dry = { ...write, dryRun: true, key: { keyHash: 'k', fingerprint: 'f' } };
    for (const work of [nothing, async () => unchanged({})]) {
      await expect(changes.inOrg(dry, orgId, work)).rejects.toBeInstanceOf(ShortCircuitResponse);
    }
    expect([await revision(), await keys()]).toEqual([1, 0]);
  });

  it('is not made at a revision that the caller did not mean', async () => {
    const change = (tag: string) => changes.inOrg({ ...write, ifMatch: new Set([tag]) }, orgId, nothing);
    await expect(change('"2"')).rejects.toMatchObject({ code: 'precondition_failed' });
    expect(await revision()).toBe(1);
    expect(await change('"1"')).toEqual({ answer: {}, revision: 2 });
  });

  it('finds a deleted organization only if it is meant for one', async () => {
    await deleteSoftly();
    await expect(changes.inOrg(write, orgId, nothing)).rejects.toMatchObject({ code: 'org_not_found' });
    expect(await changes.inOrg(write, orgId, nothing, { evenDeleted: true })).toEqual({
      answer: {},
      revision: 2,
    });
  });

  it('names what is missing', async () => {
    const missing = (): Problem => new Problem('member_not_found');
    const change = changes.inOrg(write, anUnknownId(), nothing, { missing });
    await expect(change).rejects.toMatchObject({ code: 'member_not_found' });
  });
});
