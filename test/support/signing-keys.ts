import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Jwk = Record<string, string> & { kid: string };

export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: Jwk;
}

export function aSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y, d } = privateKey.export({ format: 'jwk' }) as Record<string, string>;
  return signingKeyOf({ kty, crv, x, y, d, kid: randomUUID(), alg: 'ES256', use: 'sig' } as Jwk);
}

function signingKeyOf(jwk: Jwk): SigningKey {
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  return { kid: jwk.kid, privateKey, publicKey: createPublicKey(privateKey), jwk };
}

export function keysFileIn(directory: string): string {
  return join(directory, 'jwks.json');
}

export async function writeKeys(directory: string, keys: SigningKey[]): Promise<void> {
  await replaceKeysFile(directory, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
}

/** In one step: a service that looks meanwhile reads the old text or the new one. */
export async function replaceKeysFile(directory: string, text: string): Promise<void> {
  const written = `${keysFileIn(directory)}.written`;
  await writeFile(written, text, { mode: 0o600 });
  await rename(written, keysFileIn(directory));
}

export async function readKeys(directory: string): Promise<SigningKey[]> {
  const { keys } = JSON.parse(await readFile(keysFileIn(directory), 'utf8')) as { keys: Jwk[] };
  return keys.map(signingKeyOf);
}

export function decodeToken(token: string) {
  const [header = '', claims = ''] = token.split('.');
  return { header: decodePart(header), claims: decodePart(claims) };
}

export function sessionIdOf({ token }: { token: string }): string {
  return decodeToken(token).claims['sid'] as string;
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
