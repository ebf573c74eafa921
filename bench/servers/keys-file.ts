import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The signing key of every contender: the rows of second factors, which all hold, are sealed with what is derived from it. */
export function keysFile(directory: string): string {
  return join(directory, 'jwks.json');
}

export function writeKeysFile(directory: string): void {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' };
  writeFileSync(keysFile(directory), JSON.stringify({ keys: [key] }), { mode: 0o600 });
}
