import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { clientAddress } from '../../http/request-origin.js';
import { clientKey } from '../../rate-limits/rate-limit-keys.js';
import type { HashClient } from './hash-queue.js';

/** A customer usually has a /48 (RFC 6177): counted by /64, one customer could take every place. */
const SITE_PREFIX = 48;

export const Client = createParamDecorator((_: unknown, context: ExecutionContext): HashClient =>
  hashClientOf(context.switchToHttp().getRequest()),
);

export function hashClientOf(request: Pick<FastifyRequest, 'ip' | 'socket'>): HashClient {
  return {
    key: clientKey(clientAddress(request), SITE_PREFIX),
    hasLeft: () => request.socket.destroyed,
  };
}
