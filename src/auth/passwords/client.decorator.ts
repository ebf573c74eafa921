import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { clientAddress } from '../../http/client-address.js';
import { clientKey } from '../../rate-limits/client-key.js';
import type { HashClient } from './hash-queue.js';

/**
 * The most that one customer gets (RFC 6177). The limits count smaller networks; here whoever has many of them
 * could take every place as so many clients.
 */
const SITE_PREFIX = 48;

/** Whom this request's hashes are for. */
export const Client = createParamDecorator((_: unknown, context: ExecutionContext): HashClient =>
  hashClientOf(context.switchToHttp().getRequest()),
);

export function hashClientOf(request: Pick<FastifyRequest, 'ip' | 'socket'>): HashClient {
  return {
    key: clientKey(clientAddress(request), SITE_PREFIX),
    hasLeft: () => request.socket.destroyed,
  };
}
