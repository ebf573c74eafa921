import { expect, it } from 'vitest';
import { EncryptedSecrets } from '../tokens/derived-keys.js';
import { KeyRing, keySetText, newJwk, readKeySet, type SigningKeys } from '../tokens/signing-keys.js';
import { reEncryptSecrets } from './re-encryption.js';

const [OLD, NEW] = [newJwk(), newJwk()];
const keysOf = (...keys: (typeof OLD)[]): SigningKeys => readKeySet(keySetText(keys));
const secretsOf = (...keys: (typeof OLD)[]): EncryptedSecrets =>
  new EncryptedSecrets(new KeyRing(keysOf(...keys)), 'second factor secrets');
const PRUNED = keysOf(NEW, OLD);
const LEAVING = [PRUNED[1]!];
const PAGE = 2;

/** A table in memory: the secret of each user is the user's name. */
class Rows {
  readonly secrets = new Map<string, string>();
  beforeReplacing: (userId: string) => void = () => undefined;

  constructor(...users: string[]) {
    for (const user of users) this.add(user);
  }

  add(user: string, keys = secretsOf(OLD), secret = user): void {
    this.secrets.set(user, keys.encrypt(Buffer.from(secret), user));
  }

  findSecrets(after: string): Promise<{ userId: string; secret: string }[]> {
    const users = [...this.secrets.keys()].toSorted().filter((user) => user > after);
    return Promise.resolve(
      users.slice(0, PAGE).map((userId) => ({ userId, secret: this.secrets.get(userId)! })),
    );
  }

  replaceSecret(userId: string, secret: string, replacement: string): Promise<void> {
    this.beforeReplacing(userId);
    if (this.secrets.get(userId) === secret) this.secrets.set(userId, replacement);
    return Promise.resolve();
  }

  /** What these keys decrypt. */
  decrypted(...keys: (typeof OLD)[]): (string | undefined)[] {
    const secrets = secretsOf(...keys);
    return [...this.secrets].map(([user, secret]) => secrets.decrypt(secret, user)?.toString());
  }
}

const reEncrypt = (rows: Rows, handover = (): Promise<void> => Promise.resolve()): Promise<number> =>
  reEncryptSecrets(rows, PRUNED, LEAVING, handover);

it('leaves alone what the key that signs encrypted, and what no key decrypts', async () => {
  const rows = new Rows('a');
  rows.add('b', secretsOf(NEW));
  const other = rows.secrets.get('b');
  const damaged = `${rows.secrets.get('a')!.slice(0, -1)}_`;
  rows.secrets.set('c', damaged);
  expect(await reEncrypt(rows)).toBe(0);
  expect(rows.decrypted(NEW)).toEqual(['a', 'b', undefined]);
  expect([rows.secrets.get('b'), rows.secrets.get('c')]).toEqual([other, damaged]);
});

it('finds what an instance encrypted meanwhile with the old key', async () => {
  const rows = new Rows('b');
  await reEncrypt(rows, () => {
    for (const user of ['a', 'c']) rows.add(user);
    return Promise.resolve();
  });
  expect(new Set(rows.decrypted(NEW))).toEqual(new Set(['a', 'b', 'c']));
});

it('replaces no secret that was changed meanwhile, and counts it if only the old key decrypts it', async () => {
  const rows = new Rows('a');
  rows.beforeReplacing = (user) => rows.add(user, secretsOf(OLD), 'newer');
  expect(await reEncrypt(rows)).toBe(1);
  expect(rows.decrypted(OLD)).toEqual(['newer']);
});

it('does not wait if there are no secrets', async () => {
  const waited = (): Promise<void> => Promise.reject(new Error('waited'));
  expect(await reEncrypt(new Rows(), waited)).toBe(0);
});
