import type { Logger } from 'pino';
import type { CurrentUser } from '../access/current-user.decorator.js';
import { isEntityId } from '../identifiers/entity-id.js';
import type { ProblemCode } from '../problems/problem-codes.js';
import type { Problem } from '../problems/problem.js';
import type { EndedExchange } from './exchanges.js';

declare module 'fastify' {
  interface FastifyRequest {
    problemCode?: ProblemCode;
    user?: CurrentUser;
  }
}

/** Logs the route's pattern, not the URL: unknown paths and queries can hold secrets. */
export class RequestLog {
  private readonly enabled: boolean;

  constructor(private readonly log: Logger) {
    this.enabled = log.isLevelEnabled('info');
  }

  write({ reply, ip, aborted }: EndedExchange): void {
    if (!this.enabled) return;
    const { request } = reply;
    const { orgId, userId } = (request.params ?? {}) as { orgId?: string; userId?: string };
    this.log.info({
      msg: 'request',
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url,
      orgId: isEntityId(orgId) ? orgId : undefined,
      memberId: isEntityId(userId) ? userId : undefined,
      status: reply.statusCode,
      code: request.problemCode,
      aborted: aborted || undefined,
      userId: request.user?.id,
      ip,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    });
  }

  writeUnreadable(problem: Problem, requestId: string, ip: string): void {
    this.log.info({ msg: 'request', requestId, status: problem.status, code: problem.code, ip });
  }
}
