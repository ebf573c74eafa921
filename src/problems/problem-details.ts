import { STATUS_CODES } from 'node:http';
import type { Problem } from './problem.js';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** RFC 9457 section 3. With `about:blank` the title is the status phrase. */
export function problemDetails(problem: Problem, requestId: string): Record<string, unknown> {
  return {
    type: 'about:blank',
    title: STATUS_CODES[problem.status],
    status: problem.status,
    detail: problem.detail,
    code: problem.code,
    requestId,
    ...problem.extensions,
  };
}
