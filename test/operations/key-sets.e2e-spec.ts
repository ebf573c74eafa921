import { hostname } from 'node:os';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { accountsJson, examine, untrueClaims } from '../support/accounts-command.js';
import { startThreeInstances } from '../faults/support/three-instances.js';
import { engine } from '../support/engine.js';
import { anInstallation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { insertRow } from '../support/rows.js';
import { type Instance, launch, NO_LIMITS } from '../support/service.js';
import { aSigningKey, type SigningKey } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const CLAIM = 'all running instances have the same signing keys';
const TEN_MINUTES_MS = 600_000;

const until = (what: string, probe: () => Promise<boolean>) => waitFor(what, hangTimeoutMs(), probe);

it.runIf(engine === 'mariadb')(
  'instances notice other signing keys, by the clock of the database',
  async () => {
    const installation = await anInstallation();
    const { db, directory } = installation;
    const [key, other] = [aSigningKey(), aSigningKey()];
    const fileOf = { a: installation.env['JWT_KEYS_FILE']!, b: join(directory, 'b.json') };
    /** Each replacement lets the instance compare at once. */
    const give = async (name: 'a' | 'b', ...keys: SigningKey[]): Promise<void> => {
      await writeFile(`${fileOf[name]}.new`, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }), {
        mode: 0o600,
      });
      await rename(`${fileOf[name]}.new`, fileOf[name]);
    };
    const rows = () => db.query('SELECT id, host, key_set, differs_since FROM instances ORDER BY id');
    const keySets = async () => new Set((await rows()).map((row) => row['key_set'])).size;
    const isDegraded = async ({ anyone }: Instance) => {
      const { status, body } = await anyone.get<{ status: string; keys: string }>('/health/ready');
      expect(status).toBe(200);
      expect(body.status).toBe(body.keys);
      return body.keys === 'degraded';
    };
    const said = ({ logs }: Instance, text: string) => logs.filter((line) => line.includes(text));

    await give('a', key, other);
    await give('b', other, key);
    const a = await launch(installation, NO_LIMITS).listening;
    const b = await launch(installation, { ...NO_LIMITS, JWT_KEYS_FILE: fileOf.b }).listening;

    // The same keys in another order are the same.
    await until('both have written', async () => (await rows()).length === 2);
    expect(await keySets()).toBe(1);
    expect((await rows()).map(({ host }) => host)).toEqual([hostname(), hostname()]);
    expect(await untrueClaims(installation)).toEqual([]);

    // A rotation that is under way degrades nothing.
    await give('b', aSigningKey());
    const hasBegun = async () => (await rows()).every((row) => row['differs_since'] !== null);
    await until('the difference is noted', hasBegun);
    expect(await keySets()).toBe(2);
    expect([await isDegraded(a), await isDegraded(b)]).toEqual([false, false]);
    expect(await untrueClaims(installation)).toEqual([]);

    await db.query('UPDATE instances SET differs_since = differs_since - 120001');
    for (const [name, instance] of Object.entries({ a, b })) {
      await give(name as 'a' | 'b', ...(name === 'a' ? [other, key] : [aSigningKey()]));
      await until(`${name} is degraded`, () => isDegraded(instance));
    }
    const { code, lines } = await examine(installation);
    const sets = (await rows()).map((row) => `         ${hostname()}: ${String(row['key_set'])}`);
    expect(code).toBe(1);
    expect(lines).toEqual(expect.arrayContaining([`RED    ${CLAIM}`, ...sets]));

    // A fault of the database decides nothing.
    await db.query('ALTER TABLE instances RENAME TO hidden');
    await give('a', key, other);
    await until('it cannot compare', async () => said(a, 'cannot be compared').length > 0);
    expect(await isDegraded(a)).toBe(true);
    await db.query('ALTER TABLE hidden RENAME TO instances');

    await give('b', key, other);
    // An instance that compares before this is written compares again later.
    await until('both have written', async () => (await keySets()) === 1);
    for (const [name, instance] of Object.entries({ a, b })) {
      await give(name as 'a' | 'b', other, key);
      await until(`${name} is well`, async () => !(await isDegraded(instance)));
      expect(said(instance, 'instances have different signing keys')).toHaveLength(1);
      expect(said(instance, 'have the same signing keys again')).toHaveLength(1);
    }
    expect((await rows()).map((row) => row['differs_since'])).toEqual([null, null]);
    expect(await untrueClaims(installation)).toEqual([]);

    // The machines of live instances are named, others not.
    const foreign = { key_set: 'x', seen_at: Date.now() + TEN_MINUTES_MS };
    await insertRow(db, 'instances', { ...foreign, id: 'live', host: 'app-2' });
    await insertRow(db, 'instances', { ...foreign, id: 'dead', host: 'app-3', seen_at: Date.now() - 46_000 });
    expect(await accountsJson(installation, ['keys', 'rotate'])).toMatchObject([{ machines: ['app-2'] }]);

    await db.query("UPDATE instances SET seen_at = 1 WHERE id IN ('live', 'dead')");
    await give('a', key, other);
    await until('rows of dead instances go', async () => (await rows()).length === 2);
    await b.stop();
    expect(await rows()).toHaveLength(1);
    await a.stop();
    expect(await rows()).toEqual([]);
    await installation.remove();
  },
);

it.runIf(engine === 'mariadb')(
  'HAProxy sends nothing to the one of three that has another key file',
  async () => {
    const three = await startThreeInstances(NO_LIMITS);
    const { installation, machines, balancer } = three;
    const [one, two, odd] = machines;
    const [key] = installation.keys as [SigningKey];
    const other = aSigningKey();
    const ada = await anAccount(one.instance);
    const statuses = async (): Promise<number[]> => {
      const answers: number[] = [];
      for (let n = 0; n < 6; n += 1) {
        const headers = { authorization: `Bearer ${ada.token}` };
        answers.push((await fetch(`${balancer.url}/api/me`, { headers })).status);
      }
      return answers;
    };
    await three.untilInRotation(0, 1, 2);

    await odd.give(other);
    await three.untilInRotation(0, 1);
    expect(await statuses()).toEqual(Array(6).fill(200));
    expect(await odd.ready()).toMatchObject({
      status: 503,
      body: { detail: 'Most instances have other signing keys than this instance.' },
    });
    expect(odd.lines('clients should not reach this instance')).toEqual([
      expect.stringContaining('"because":"keys"'),
    ]);
    await odd.untilMetric(
      'the metrics say so',
      ({ value }) => value('accounts_ready', { part: 'keys' }) === 0,
    );

    // A process that was killed votes no longer when the next one starts.
    for (let n = 0; n < 2; n += 1) {
      await odd.instance.kill();
      await odd.start(NO_LIMITS);
    }
    expect((await odd.ready()).status).toBe(503);
    await Promise.all([one.heartbeat(), two.heartbeat()]);
    await one.heartbeat();
    expect((await one.ready()).status).toBe(200);
    await three.untilInRotation(0, 1);

    // `keys rotate --now`, and the file of it on one machine after the other.
    await odd.give(other, key);
    await one.give(other, key);
    await odd.until('it is ready again', ({ status }) => status === 200);
    await two.heartbeat();
    await two.until('it lacks the key that signs', ({ status }) => status === 503);
    await two.give(other, key);
    await two.until('it has the file', ({ status }) => status === 200);
    await three.untilInRotation(0, 1, 2);
    await three.stop();
  },
);
