import { generateKeyPairSync } from 'node:crypto';
import { type Jwk, thumbprint } from './signing-keys.js';

/** A key pair as it stands in the key file, with its thumbprint (RFC 7638) for a name. */
export function newJwk(): Jwk {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), kid: thumbprint(publicKey), alg: 'ES256', use: 'sig' };
}

/** A JWK Set (RFC 7517 section 5) as it stands in the key file. */
export function keySetText(keys: readonly Jwk[]): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}
