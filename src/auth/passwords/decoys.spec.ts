import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chooseDecoy, decoyLike } from './decoys.js';
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
      expect(decoy).toHaveLength(hash.length);
      expect(decoy).not.toMatch(/[Bb]{5}/);
      expect(decoy.slice(0, 7)).toBe(hash.slice(0, 7));
      expect(decoyLike(decoy)).toBe(decoy);
      expect(foreignHashFault(decoy)).toBeUndefined();
      expect(await (await loadHashEngine()).verify(decoy, 'correct horse')).toBe(false);
    },
  );

  it.each(['', 'none', BCRYPT.slice(1), `$scrypt$ln=30,r=8,p=1$${'B'.repeat(11)}A$${'B'.repeat(42)}A`])(
    'does not exist for a hash that cannot be verified: %s',
    (hash) => {
      expect(decoyLike(hash)).toBeUndefined();
    },
  );
});

describe('the decoys of unknown emails', () => {
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
