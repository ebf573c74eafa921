// Creates a JWK Set with one private P-256 key, or appends a new key to an existing one:
// node scripts/create-keys.mjs FILE
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const file = process.argv[2];
if (!file) {
  console.error('usage: node scripts/create-keys.mjs FILE');
  process.exit(2);
}

const { keys } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { keys: [] };
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'ES256', use: 'sig' };

const draft = `${file}.${randomUUID()}`;
writeFileSync(draft, `${JSON.stringify({ keys: [...keys, key] }, null, 2)}\n`, { mode: 0o600 });
renameSync(draft, file);
console.log(`${file} holds ${keys.length + 1} key(s); the first signs, all verify. New: ${key.kid}`);
