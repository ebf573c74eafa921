import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseEnv } from '../../config/env.js';
import type { UsersRepository } from '../../users/users.repository.js';
import { KeyRing, keySetText, newJwk, readKeySet } from '../tokens/signing-keys.js';
import { chooseDecoy, decoyLike, Decoys } from './decoys.js';
import { foreignHashFault, loadHashEngine } from './hash-engines.js';

const ARGON2ID = `$argon2id$v=19$m=1024,t=1,p=1$${'B'.repeat(21)}A$${'B'.repeat(42)}A`;
const BCRYPT = `$2y$04$${'b'.repeat(21)}O${'b'.repeat(30)}C`;
const PBKDF2 = `$pbkdf2-sha256$i=1000$${'B'.repeat(21)}A$${'B'.repeat(85)}A`;
const SCRYPT = `$scrypt$ln=10,r=8,p=1$${'B'.repeat(11)}A$${'B'.repeat(42)}A`;
const FIREBASE = `$firebase-scrypt$ln=10,r=8,p=1$${'B'.repeat(12)}$${'B'.repeat(85)}A`;

const EMAILS = Array.from({ length: 4000 }, (_, index) => `user${index}@example.com`);
const choose = (shares: ReadonlyMap<string, number>, email: string): string =>
  chooseDecoy(shares, (decoy) => createHmac('sha256', 'key').update(`${decoy} ${email}`).digest());

describe('a decoy', () => {
  it.each([ARGON2ID, BCRYPT, PBKDF2, SCRYPT, FIREBASE])(
    'can be verified, costs the same, and has nothing else of the hash: %s',
    async (hash) => {
      const decoy = decoyLike(hash)!;
      expect(decoy).not.toMatch(/[Bb]{5}/);
      expect(decoy.slice(3, 7)).toBe(hash.slice(3, 7));
      expect(decoyLike(decoy)).toBe(decoy);
      expect(foreignHashFault(decoy)).toBeUndefined();
      expect(await (await loadHashEngine()).verify(decoy, 'correct horse')).toBe(false);
    },
  );

  it.each<[string, string, string]>([
    ['versions of bcrypt', BCRYPT, BCRYPT.replace('2y', '2a')],
    ['orders of parameters', ARGON2ID, ARGON2ID.replace('t=1,p=1', 'p=1,t=1')],
    ['lengths of salts', ARGON2ID, ARGON2ID.replace('B'.repeat(21), 'B'.repeat(25))],
    ['lengths of hashes', SCRYPT, `${SCRYPT.slice(0, -22)}A`],
    ['lengths of hashes of as many blocks', PBKDF2, `${PBKDF2.slice(0, -5)}A`],
    ['fields of the length', PBKDF2, PBKDF2.replace('i=1000', 'i=1000,l=64')],
  ])('is the same for all %s', (_, one, other) => {
    expect(foreignHashFault(other)).toBeUndefined();
    expect(decoyLike(other)).toBe(decoyLike(one));
  });

  it.each<[string, string, string]>([
    ['number of blocks', PBKDF2, `${PBKDF2.slice(0, -44)}A`],
    ['cost', BCRYPT, BCRYPT.replace('04', '05')],
    ['number of lanes', SCRYPT, SCRYPT.replace('p=1', 'p=2')],
  ])('is another for another %s', (_, one, other) => {
    expect(foreignHashFault(other)).toBeUndefined();
    expect(decoyLike(other)).not.toBe(decoyLike(one));
  });

  it.each(['', 'none', BCRYPT.slice(1), `$scrypt$ln=30,r=8,p=1$${'B'.repeat(11)}A$${'B'.repeat(42)}A`])(
    'does not exist for a hash that cannot be verified: %s',
    (hash) => {
      expect(decoyLike(hash)).toBeUndefined();
    },
  );
});

describe('the decoys of unknown emails', () => {
  it('are of the hundred most frequent kinds', async () => {
    const kinds = Array.from({ length: 101 }, (_, index) => ({
      hash: PBKDF2.replace('i=1000', `i=${1000 + index}`),
      users: index === 50 ? 1 : 5,
      last: 'u',
    }));
    const read = Promise.withResolvers<void>();
    const users = {
      countHashKinds: () => {
        setImmediate(read.resolve);
        return Promise.resolve(kinds);
      },
    } as Partial<UsersRepository>;
    const keys = new KeyRing(readKeySet(keySetText([newJwk()])));
    const decoys = new Decoys(users as UsersRepository, keys, parseEnv({}));
    decoys.start();
    await read.promise;
    const found = new Set(EMAILS.slice(0, 2000).map((email) => decoys.find(email)));
    await decoys.onApplicationShutdown();
    const frequent = kinds.filter((kind) => kind.users === 5);
    expect(found).toEqual(new Set(frequent.map(({ hash }) => decoyLike(hash))));
  });

  it('have the shares of the kinds of hashes', () => {
    const shares = new Map([
      [ARGON2ID, 600],
      [BCRYPT, 300],
      [PBKDF2, 100],
    ]);
    const chosen = EMAILS.map((email) => choose(shares, email));
    for (const [decoy, users] of shares) {
      const share = chosen.filter((one) => one === decoy).length / EMAILS.length;
      // Within six standard deviations.
      expect(Math.abs(share - users / 1000)).toBeLessThan(0.05);
    }
    expect(EMAILS.map((email) => choose(shares, email))).toEqual(chosen);
  });

  it('change for no more emails than must if the shares change, and only to the kind that grew', () => {
    const before = new Map([
      [ARGON2ID, 100],
      [BCRYPT, 800],
      [PBKDF2, 100],
    ]);
    const after = new Map([...before, [ARGON2ID, 300]] as const);
    const changed = EMAILS.filter((email) => choose(before, email) !== choose(after, email));
    expect(changed.map((email) => choose(after, email))).toEqual(changed.map(() => ARGON2ID));
    // From a tenth to a quarter: 15 percent.
    expect(changed.length / EMAILS.length).toBeLessThan(0.2);
  });
});
