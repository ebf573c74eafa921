import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';

export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** as it stands in `JWT_KEYS_FILE` */
  jwk: Record<string, string>;
}

export function aSigningKey(): SigningKey {
  const kid = randomUUID();
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y, d } = privateKey.export({ format: 'jwk' }) as Record<string, string>;
  const jwk = { kty, crv, x, y, d, kid, alg: 'ES256', use: 'sig' } as Record<string, string>;
  return { kid, privateKey, publicKey, jwk };
}

export interface DecodedToken {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

export function decodeToken(token: string): DecodedToken {
  const [header = '', claims = ''] = token.split('.');
  return { header: decodePart(header), claims: decodePart(claims) };
}

function decodePart(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
}

/** A token as it would be had the key's holder made it with any header and any payload, wrong ones included. */
export function signToken(header: unknown, payload: unknown, key: SigningKey): string {
  const input = `${encodePart(header)}.${encodePart(payload)}`;
  const signature = sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

export function encodePart(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
