import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  isDatabaseUnavailable,
  isLostConflict,
  isStorageFull,
} from '../database/transactions/database-errors.js';
import { LostConflictError, StorageFullError } from '../database/transactions/transaction-errors.js';
import { unsupportedMediaType } from './form-body.js';
import { describeError } from '../telemetry/logging/describe-error.js';
import { PROBLEMS } from '../problems/problem-codes.js';
import {
  Problem,
  PROBLEM_MEDIA_TYPE,
  problemDetails,
  statusOf,
  toProblem,
  UnavailableError,
} from '../problems/problem.js';

@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Problems');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendProblem(
      problemOf(error),
      http.getRequest<FastifyRequest>(),
      http.getResponse<FastifyReply>(),
      this.logger,
    );
  }
}

/** Converts an error as `toProblem` does, but knows the faults of the database, too. */
export function problemOf(error: unknown): Problem {
  // Check the status first: a client that resets its connection causes the same ECONNRESET as a database.
  if (statusOf(error) !== undefined) return toProblem(error);
  if (isStorageFull(error)) return new StorageFullError(error);
  if (isDatabaseUnavailable(error)) {
    return new UnavailableError(PROBLEMS.unavailable.detail, 1, error);
  }
  if (isLostConflict(error)) return new LostConflictError(error);
  return toProblem(error);
}

export function sendProblem(
  thrown: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): void {
  // Fastify and the parsers refuse a media type without knowing what the route takes.
  const problem = thrown.code === 'unsupported_media_type' ? unsupportedMediaType(request) : thrown;
  if (problem.status >= 500) {
    const entry = { msg: problem.message, requestId: request.id, err: describeError(problem.cause) };
    if (problem.status === 500) logger.error(entry);
    else logger.warn(entry);
  }
  request.problem = problem;
  // The unread body would be parsed as the connection's next request.
  if (problem.code === 'unsupported_media_type') reply.header('Connection', 'close');
  void reply
    .status(problem.status)
    // Nest has set the headers of the route by now, and those of a key set let caches keep it.
    .header('Cache-Control', 'no-store')
    .headers(problem.headers)
    .type(PROBLEM_MEDIA_TYPE)
    .send(problemDetails(problem, request.id));
}
