import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'safe-stable-stringify';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';

export interface RequestKey {
  /** SHA-256, base64url */
  keyHash: string;
  /** SHA-256 of what was asked, base64url */
  fingerprint: string;
  /** true for a key that was used so long ago that it is free again */
  isExpired?: boolean;
}

const BARE = /^[\x21\x23-\x7e][\x21-\x7e]{0,254}$/;
/** RFC 9651 section 3.3.3, without spaces */
const QUOTED = /^"(?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255}"$/;

export function parseKey(text: string): string | undefined {
  if (BARE.test(text)) return text;
  return QUOTED.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : undefined;
}

export function requestKey(key: string, { method, url, query, body }: FastifyRequest): RequestKey {
  const [path] = url.split('?', 1);
  // It sorts names, so that only what the service sees makes a difference. The depth is bounded at the edge.
  return { keyHash: sha256(key), fingerprint: sha256(stringify([method, path, query, body])) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Ends a request whose answer is known: everything done so far is rolled back. */
export class ShortCircuitResponse extends Error {
  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: Record<string, string> = {},
  ) {
    super('answered early');
  }

  send(reply: FastifyReply): void {
    void reply.status(this.status).headers(this.headers).send(this.body);
  }
}

@Catch(ShortCircuitResponse)
export class ShortCircuitResponseFilter implements ExceptionFilter<ShortCircuitResponse> {
  catch(answer: ShortCircuitResponse, host: ArgumentsHost): void {
    answer.send(host.switchToHttp().getResponse<FastifyReply>());
  }
}
