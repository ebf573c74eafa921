import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { userOf } from '../../access/principal.js';
import { problemOf, sendProblem } from '../../http/problem.filter.js';
import type { CurrentOrg } from '../../http/request-origin.js';
import { Problem, type Remedy } from '../../problems/problem.js';
import { Writes } from '../../requests/writes.js';
import { MemberLists } from '../state/members.lists.js';

type RefusedRequest = FastifyRequest & { org?: CurrentOrg };

const MAX_CANDIDATES = 5;

// Answers refusals after the rollback. If the first of two equal requests with one key took effect meanwhile, the
// second gets its answer.
@Catch(Problem)
export class RefusalsFilter implements ExceptionFilter<Problem> {
  private readonly logger = new Logger('Problems');

  constructor(
    private readonly writes: Writes,
    private readonly members: MemberLists,
  ) {}

  catch(problem: Problem, host: ArgumentsHost): void | Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<RefusedRequest>();
    const reply = http.getResponse<FastifyReply>();
    const { key, writeControls } = request;
    if (problem.status < 500 && (key || (writeControls?.withRemedy && problem.options.remedy))) {
      return this.answer(problem, request, reply).catch((error: unknown) => {
        sendProblem(problemOf(error), request, reply, this.logger);
      });
    }
    return sendProblem(problem, request, reply, this.logger);
  }

  private async answer(problem: Problem, request: RefusedRequest, reply: FastifyReply): Promise<void> {
    const { key, writeControls, org } = request;
    const { id: userId } = userOf(request);
    const first = key && (await this.writes.findAnswer(userId, key));
    if (first) return first.send(reply);
    if (writeControls?.withRemedy && problem.options.remedy) {
      problem.extensions['remedy'] = await this.describe(problem.options.remedy, userId, org?.id);
    }
    return sendProblem(problem, request, reply, this.logger);
  }

  /** Names one organization at a time: the next attempt names the next one. */
  private async describe(remedy: Remedy, userId: string, orgOfRequest: string | undefined): Promise<object> {
    if (remedy.action === 'resend') return remedy;
    const orgId = remedy.orgIds ? remedy.orgIds[0] : orgOfRequest;
    const candidates =
      orgId === undefined ? [] : await this.members.findSuccessors(orgId, userId, MAX_CANDIDATES);
    return { action: 'transfer', ...(remedy.orgIds && orgId !== undefined && { orgId }), candidates };
  }
}
