import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { AuthService } from '../../src/auth/auth.service.js';
import { decoyLike, Decoys } from '../../src/auth/passwords/decoys.js';
import { HASH_ENGINE, type HashEngine } from '../../src/auth/passwords/hash-engines.js';
import { KeyRing, keySetText, newJwk, readKeySet } from '../../src/auth/tokens/signing-keys.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { times } from '../support/at-once.js';
import { openDataLayer } from '../support/data-source.js';
import { insertRows } from '../support/rows.js';
import { wired } from '../support/wired.js';

const base64 = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64').replaceAll('=', '');
const ending = `${base64(16)}$${base64(32)}`;
const BCRYPT = `$2b$04$${'b'.repeat(21)}O${'b'.repeat(30)}C`;
const KINDS = {
  bcrypt: [BCRYPT, 1400],
  argon2id: [`$argon2id$v=19$m=64,t=1,p=1$${ending}`, 600],
  'argon2id of another order': [`$argon2id$v=19$m=64,p=1,t=1$${ending}`, 100],
  pbkdf2: [`$pbkdf2-sha256$i=10$${ending}`, 300],
  'pbkdf2 of two blocks': [`$pbkdf2-sha256$i=10$${base64(16)}$${base64(64)}`, 100],
  scrypt: [`$scrypt$ln=4,r=8,p=1$${ending}`, 100],
  firebase: [`$firebase-scrypt$ln=4,r=8,p=1$${base64(9)}$${base64(64)}`, 100],
  'scrypt of more memory than work': [`$scrypt$ln=1,r=65536,p=1$${ending}`, 100],
  'scrypt that no login can verify': [`$scrypt$ln=1,r=999999,p=1$${ending}`, 10],
  none: ['none', 10],
  'no password': ['!', 10],
} as const;
const CLIENT = { key: '203.0.113.7', hasLeft: () => false };
const ORIGIN = { requestId: 'request', address: '203.0.113.7', userAgent: null };

const data = await openDataLayer();
const context = await wired(data);
afterAll(async () => {
  await decoys.onApplicationShutdown();
  await data.close();
});

const decoys = context.get(Decoys);
const engine = context.get<HashEngine>(HASH_ENGINE);
const emails = times(400, (index) => `unknown${index}@example.com`);

/** The kinds of hashes that a failed login computes. */
async function computed(email: string): Promise<(string | undefined)[]> {
  const verify = vi.spyOn(engine, 'verify');
  const hash = vi.spyOn(engine, 'hash');
  const login = { email, password: 'correct horse' };
  const failed = await context
    .get(AuthService)
    .login(login, CLIENT, ORIGIN)
    .catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'invalid_credentials' });
  expect(hash).not.toHaveBeenCalled();
  const kinds = verify.mock.calls.map(([stored]) => decoyLike(stored));
  verify.mockRestore();
  hash.mockRestore();
  return kinds;
}

describe('a login with an unknown email', () => {
  beforeAll(async () => {
    for (const [hash, users] of Object.values(KINDS))
      await insertRows(
        data.db,
        'users',
        times(users, () => ({ id: newEntityId(), password_hash: hash })),
      );
  });

  it('computes what a user of the same share would, after the kinds were counted', async () => {
    expect(new Set(emails.map((email) => decoys.find(email))).size).toBe(1);
    decoys.start();
    await waitFor('the kinds are counted', hangTimeoutMs(), () =>
      Promise.resolve(new Set(emails.map((email) => decoys.find(email))).size > 1),
    );
    const found = emails.map((email) => decoys.find(email));
    const known = Object.values(KINDS).flatMap(([hash]) => decoyLike(hash) ?? []);
    expect(new Set(found)).toEqual(new Set(known));
    const ofBcrypt = found.filter((decoy) => decoy === decoyLike(BCRYPT)).length;
    // Half of them, within six standard deviations.
    expect(Math.abs(ofBcrypt - emails.length / 2)).toBeLessThan(60);

    for (const email of emails.slice(0, 40)) {
      expect(await computed(email)).toEqual([decoys.find(email)]);
      expect(await computed(email)).toEqual([decoys.find(email)]);
    }
  });

  it('keeps its decoy when the signing keys are rotated', () => {
    const keys = context.get(KeyRing);
    const before = emails.map((email) => decoys.find(email));
    const added = readKeySet(keySetText([newJwk()]));
    keys.replace([...added, ...keys.all]);
    expect(emails.map((email) => decoys.find(email))).toEqual(before);
  });

  it('computes one hash, as a login of a user does', async () => {
    for (const [hash] of Object.values(KINDS)) {
      const [{ email } = {}] = await data.db.query(
        'SELECT email FROM users WHERE password_hash = ? LIMIT 1',
        [hash],
      );
      const decoy = decoyLike(hash) ?? decoys.find(String(email));
      expect(await computed(String(email))).toEqual([decoy]);
    }
  });
});
