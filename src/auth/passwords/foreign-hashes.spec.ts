import { describe, expect, it } from 'vitest';
import { BcryptVerifier, foreignHashFault, readBcryptCost } from './hash-engines.js';

// Made by other implementations, at cost 4: of `a`, of `pässwörd€`, of 72 times `a`.
const HASH_OF_A = '$2b$04$4YXCkqfaWdYbu7VLBGFKmuBD1Yc8SC2mQbg/Tkdg1k8r9rUWGoAJO';
const HASH_OF_UNICODE = '$2b$04$xF3w0o4lsidAzvm6V3pLtOYf3032r31YVZuTvXwuTnNh7jjrNdaHG';
const OF_72 = '$2b$04$xpr91gt7jAeaqPmtTq7B1uONEfIJLZjZK06tH7yMARRvgtm7bqAeW';

const verify = (hash: string, password: string) => new BcryptVerifier().verify(hash, password);

describe('a bcrypt hash', () => {
  it.each(['2a', '2b', '2y'])('of version %s verifies only the right password', async (version) => {
    const hash = HASH_OF_UNICODE.replace('2b', version);
    expect(await verify(hash, 'pässwörd€')).toBe(true);
    expect(await verify(hash, 'pässwörd')).toBe(false);
  });

  it('verifies the first 72 bytes of a password', async () => {
    expect(await verify(OF_72, 'a'.repeat(72))).toBe(true);
    expect(await verify(OF_72, `${'a'.repeat(72)}b`)).toBe(true);
    expect(await verify(OF_72, 'a'.repeat(71))).toBe(false);
  });

  it('matches no password with NUL', async () => {
    expect(await verify(HASH_OF_A, 'a')).toBe(true);
    expect(await verify(HASH_OF_A, 'a\0')).toBe(false);
    expect(await verify(HASH_OF_A, 'a\0a')).toBe(false);
  });

  it.each([
    '',
    'a',
    HASH_OF_A.slice(0, -1),
    `${HASH_OF_A}\n`,
    HASH_OF_A.replace('2b', '2x'),
    HASH_OF_A.replace('2b', '2'),
    HASH_OF_A.replace('04', '03'),
    HASH_OF_A.replace('04', '15'),
    HASH_OF_A.replace('04', '4'),
    `${HASH_OF_A.slice(0, 28)}a${HASH_OF_A.slice(29)}`,
    `${HASH_OF_A.slice(0, -1)}/`,
  ])('that is damaged or too costly matches nothing: %s', async (hash) => {
    expect(readBcryptCost(hash)).toBeUndefined();
    expect(await verify(hash, 'a')).toBe(false);
    expect(foreignHashFault(hash)).toBe('invalid_hash');
  });
});

describe('a hash of another system', () => {
  const phc = (cost: string) => `$argon2id$v=19$${cost}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

  it.each([
    HASH_OF_A,
    HASH_OF_A.replace('04', '14'),
    phc('m=65536,t=3,p=4'),
    phc('m=262144,t=4,p=16'),
    phc('m=8,t=1,p=1'),
  ])('is taken: %s', (hash) => {
    expect(foreignHashFault(hash)).toBeUndefined();
  });

  it.each([
    ['hash_too_costly', phc('m=2097152,t=1,p=4')],
    ['hash_too_costly', phc('m=262144,t=5,p=1')],
    ['hash_too_costly', phc('m=19456,t=2,p=17')],
    ['invalid_hash', phc('m=9999999,t=1,p=1')],
    ['invalid_hash', phc('m=65536,t=3,p=4').replace('argon2id', 'argon2i')],
    ['invalid_hash', `${phc('m=65536,t=3,p=4')}${'A'.repeat(300)}`],
    ['invalid_hash', '5f4dcc3b5aa765d61d8327deb882cf99'],
  ])('is refused as %s: %s', (fault, hash) => {
    expect(foreignHashFault(hash)).toBe(fault);
  });
});
