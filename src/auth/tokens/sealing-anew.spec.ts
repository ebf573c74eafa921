import { expect, it } from 'vitest';
import { KeyRing } from './key-ring.js';
import { keySetText, newJwk } from './new-key.js';
import { type SealedRow, type SealedRows, SealedParts } from './sealed-parts.js';
import { SealedSecrets } from './sealed-secrets.js';
import { SealingAnew } from './sealing-anew.js';
import { readKeySet, type SigningKeys } from './signing-keys.js';

const [OLD, NEW] = [newJwk(), newJwk()];
const keysOf = (...keys: (typeof OLD)[]): SigningKeys => readKeySet(keySetText(keys));
const secretsOf = (...keys: (typeof OLD)[]): SealedSecrets =>
  new SealedSecrets(new KeyRing(keysOf(...keys)), 'second factor secrets');
const PRUNED = keysOf(NEW, OLD);
const LEAVING = [PRUNED[1]!];
const PAGE = 2;

/** A table in memory. */
class Rows implements SealedRows {
  readonly sealed = new Map<string, string>();
  /** called before each replacement */
  beforeReplacing: (row: SealedRow) => void = () => undefined;

  findSealed(after: string): Promise<SealedRow[]> {
    const keys = [...this.sealed.keys()].toSorted().filter((key) => key > after);
    return Promise.resolve(
      keys.slice(0, PAGE).map((rowKey) => ({ rowKey, sealed: this.sealed.get(rowKey)! })),
    );
  }

  replaceSealed(row: SealedRow, sealed: string): Promise<void> {
    this.beforeReplacing(row);
    if (this.sealed.get(row.rowKey) === row.sealed) this.sealed.set(row.rowKey, sealed);
    return Promise.resolve();
  }

  /** What can be read with these keys. */
  opened(...keys: (typeof OLD)[]): (string | undefined)[] {
    const secrets = secretsOf(...keys);
    return [...this.sealed].map(([rowKey, sealed]) => secrets.open(sealed, rowKey)?.toString());
  }
}

const rowOf = (name: string): string => `row ${name}`;

function sealedRows(...names: string[]): { rows: Rows; sealing: SealingAnew } {
  const rows = new Rows();
  for (const name of names) rows.sealed.set(rowOf(name), secretsOf(OLD).seal(Buffer.from(name), rowOf(name)));
  const parts = new SealedParts();
  parts.rows.register('second factor secrets', rows);
  return { rows, sealing: new SealingAnew(parts) };
}

const atOnce = (): Promise<void> => Promise.resolve();

it('seals every secret anew with the key that signs', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const { rows, sealing } = sealedRows(...names);
  expect(await sealing.relieve(PRUNED, LEAVING, atOnce)).toBe(0);
  expect(rows.opened(NEW)).toEqual(names);
});

it('leaves alone what the key that signs has sealed, and what no key opens', async () => {
  const { rows, sealing } = sealedRows('a');
  const other = secretsOf(NEW).seal(Buffer.from('b'), rowOf('b'));
  rows.sealed.set(rowOf('b'), other);
  const damaged = `${rows.sealed.get(rowOf('a'))!.slice(0, -1)}_`;
  rows.sealed.set(rowOf('c'), damaged);
  expect(await sealing.relieve(PRUNED, LEAVING, atOnce)).toBe(0);
  expect(rows.opened(NEW)).toEqual(['a', 'b', undefined]);
  expect([rows.sealed.get(rowOf('b')), rows.sealed.get(rowOf('c'))]).toEqual([other, damaged]);
});

it('finds what an instance has sealed meanwhile with the old key', async () => {
  const { rows, sealing } = sealedRows('b');
  await sealing.relieve(PRUNED, LEAVING, () => {
    for (const name of ['a', 'c']) {
      rows.sealed.set(rowOf(name), secretsOf(OLD).seal(Buffer.from(name), rowOf(name)));
    }
    return Promise.resolve();
  });
  expect(new Set(rows.opened(NEW))).toEqual(new Set(['a', 'b', 'c']));
});

it('replaces no secret that was changed meanwhile, and says so if it cannot be opened without the old key', async () => {
  const { rows, sealing } = sealedRows('a');
  rows.beforeReplacing = ({ rowKey }) =>
    rows.sealed.set(rowKey, secretsOf(OLD).seal(Buffer.from('newer'), rowKey));
  expect(await sealing.relieve(PRUNED, LEAVING, atOnce)).toBe(1);
  expect(rows.opened(OLD)).toEqual(['newer']);
});

it('loses nothing where it is interrupted', async () => {
  for (let replaced = 0; replaced < 3; replaced += 1) {
    const { rows, sealing } = sealedRows('a', 'b', 'c');
    let left = replaced;
    rows.beforeReplacing = () => {
      left -= 1;
      if (left < 0) throw new Error('interrupted');
    };
    await expect(sealing.relieve(PRUNED, LEAVING, atOnce)).rejects.toThrow('interrupted');
    expect(rows.opened(NEW, OLD)).toEqual(['a', 'b', 'c']);
  }
});

it('waits for nobody where nothing is sealed', async () => {
  const { sealing } = sealedRows();
  const waited = (): Promise<void> => Promise.reject(new Error('waited'));
  expect(await sealing.relieve(PRUNED, LEAVING, waited)).toBe(0);
});

it('refuses to begin where a room has not registered what it keeps sealed', async () => {
  await expect(new SealingAnew(new SealedParts()).relieve(PRUNED, LEAVING, atOnce)).rejects.toThrow(
    'no room has registered "second factor secrets"',
  );
});
