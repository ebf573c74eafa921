import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { clientAddress } from '../../http/client-address.js';
import { clientKey } from '../../rate-limits/client-key.js';
import type { HashClient } from './hash-queue.js';

/** Whom this request's hashes are for: the client as the rate limits count it. */
export const Client = createParamDecorator((_: unknown, context: ExecutionContext): HashClient => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return { key: clientKey(clientAddress(request)), hasLeft: () => request.socket.destroyed };
});
