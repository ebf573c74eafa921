import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { userOf } from '../../access/principal.js';
import { problemOf, sendProblem } from '../../http/problem.filter.js';
import type { CurrentOrg } from '../../http/request-origin.js';
import { Problem, type Remedy } from '../../problems/problem.js';
import { Writes } from '../../requests/writes.js';
import { MemberListsRepository } from '../state/members.lists.js';

type RefusedRequest = FastifyRequest & { org?: CurrentOrg };

const MAX_CANDIDATES = 5;

// Runs after the rollback. If an equal request with this key succeeded meanwhile, both get its response.
@Catch(Problem)
export class RefusalsFilter implements ExceptionFilter<Problem> {
  private readonly logger = new Logger('Problems');

  constructor(
    private readonly writes: Writes,
    private readonly members: MemberListsRepository,
  ) {}

  async catch(problem: Problem, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<RefusedRequest>();
    const reply = http.getResponse<FastifyReply>();
    let answered = problem;
    try {
      const { key, org } = request;
      const { remedy: isAsked } = request.query as { remedy?: unknown };
      const remedy = isAsked === 'true' ? problem.options.remedy : undefined;
      if (problem.status < 500 && (key || remedy)) {
        const { id: userId } = userOf(request);
        const first = key && (await this.writes.findAnswer(userId, key));
        if (first) return first.send(reply);
        if (remedy) problem.extensions['remedy'] = await this.describe(remedy, userId, org?.id);
      }
    } catch (error) {
      answered = problemOf(error);
    }
    sendProblem(answered, request, reply, this.logger);
  }

  private async describe(remedy: Remedy, userId: string, orgOfRequest: string | undefined): Promise<object> {
    if (remedy.action !== 'transfer') return remedy;
    const orgId = remedy.orgIds ? remedy.orgIds[0] : orgOfRequest;
    if (orgId === undefined) return { action: 'transfer', candidates: [] };
    const candidates = await this.members.findSuccessors(orgId, userId, MAX_CANDIDATES);
    return { action: 'transfer', ...(remedy.orgIds && { orgId }), candidates };
  }
}
