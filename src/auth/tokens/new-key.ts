import { generateKeyPairSync } from 'node:crypto';
import { type Jwk, thumbprint } from './signing-keys.js';

export function newJwk(): Jwk {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), kid: thumbprint(publicKey), alg: 'ES256', use: 'sig' };
}

export function keySetText(keys: readonly Jwk[]): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}
