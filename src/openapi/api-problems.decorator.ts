import { STATUS_CODES } from 'node:http';
import { applyDecorators } from '@nestjs/common';
import { ApiResponse, type ApiResponseNoStatusOptions, getSchemaPath } from '@nestjs/swagger';
import { PROBLEMS, type ProblemCode } from '../problems/problem-codes.js';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem-details.js';
import { ProblemResponse } from './problem.response.js';

/** What any route can answer besides its own failures. */
const EVERYWHERE: ProblemCode[] = ['internal_error', 'unavailable'];

/** What any route that reads a body can answer. */
const WITH_BODY: ProblemCode[] = ['body_too_large', 'unsupported_media_type'];

/** Documents the failures of a route, by their problem codes. */
export function ApiProblems(...codes: ProblemCode[]): MethodDecorator {
  const all = new Set([...codes, ...(codes.includes('malformed_json') ? WITH_BODY : []), ...EVERYWHERE]);
  const byStatus = Map.groupBy(all, (code) => PROBLEMS[code].status);
  return applyDecorators(...[...byStatus].map(([status, group]) => describeStatus(status, group)));
}

function describeStatus(status: number, codes: ProblemCode[]): MethodDecorator {
  const examples = codes.map((code) => [code, { summary: PROBLEMS[code].meaning, value: example(code) }]);
  return ApiResponse({
    status,
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join('. '),
    headers: headersOf(status),
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: { $ref: getSchemaPath(ProblemResponse) },
        examples: Object.fromEntries(examples),
      },
    },
  });
}

function headersOf(status: number): ApiResponseNoStatusOptions['headers'] {
  if (status === 401)
    return { 'WWW-Authenticate': { description: 'RFC 6750 section 3', schema: { type: 'string' } } };
  if (status !== 429 && status !== 503) return undefined;
  return { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } };
}

function example(code: ProblemCode): ProblemResponse {
  const { status, meaning } = PROBLEMS[code];
  return {
    type: 'about:blank',
    title: STATUS_CODES[status]!,
    status,
    detail: `${meaning}.`,
    code,
    requestId: '2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11',
    ...EXTENSIONS[code],
  };
}

const EXTENSIONS: Partial<Record<ProblemCode, Partial<ProblemResponse>>> = {
  validation_failed: { errors: [{ field: 'email', message: 'must be an e-mail address' }] },
  insufficient_role: { requiredRole: 'admin', yourRole: 'member' },
};
