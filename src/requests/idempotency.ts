import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { stringify } from 'safe-stable-stringify';

export interface RequestKey {
  keyHash: string;
  fingerprint: string;
  isExpired?: boolean;
}

const BARE = /^[\x21\x23-\x7e][\x21-\x7e]{0,254}$/;
const QUOTED = /^"(?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255}"$/;

export function parseKey(text: string): string | undefined {
  if (BARE.test(text)) return text;
  return QUOTED.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : undefined;
}

export function requestKey(key: string, { method, url, query, body }: FastifyRequest): RequestKey {
  const [path] = url.split('?', 1);
  // `stringify` sorts names, so their order makes no difference. acceptBodies limits the depth.
  return { keyHash: sha256(key), fingerprint: sha256(stringify([method, path, query, body])) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
