import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { CurrentUser } from '../access/current-user.decorator.js';
import { isEntityId } from '../identifiers/entity-id.js';
import type { ProblemCode } from '../problems/catalogue.js';
import { clientAddress } from './client-address.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** the `code` of the problem that was answered */
    problemCode?: ProblemCode;
    user?: CurrentUser;
  }
}

/**
 * One line for each request: who, what, the outcome. The route's pattern stands for the path, since a path
 * that nobody knows, and every query, can hold anything, secrets too. Bodies and headers are never logged.
 */
export function logRequests(fastify: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('info')) return;
  fastify.addHook('onResponse', (request, reply, done) => {
    const { id, uid } = (request.params ?? {}) as { id?: string; uid?: string };
    log.info({
      msg: 'request',
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url,
      orgId: isEntityId(id) ? id : undefined,
      memberId: isEntityId(uid) ? uid : undefined,
      status: reply.statusCode,
      code: request.problemCode,
      userId: request.user?.id,
      ip: clientAddress(request),
      ms: Math.round(reply.elapsedTime * 10) / 10,
    });
    done();
  });
}
