import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Problem } from '../problems/problem.js';

/** The tags in `If-Match` (RFC 9110 section 13.1.1): `*`, or the strong ones. */
export type EntityTags = '*' | ReadonlySet<string>;

/** fits more than 40 tags of this service */
const MAX_LENGTH = 1000;
const LIST =
  /^[ \t,]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,(?:[ \t]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")?)*[ \t]*$/;
const TAG = /(W\/)?("[^"]*")/g;

/** Returns undefined for text that is no `If-Match`. Weak tags match nothing, since the comparison is strong. */
export function parseIfMatch(text: string): EntityTags | undefined {
  if (text === '*') return text;
  if (text.length > MAX_LENGTH || !LIST.test(text)) return undefined;
  return new Set([...text.matchAll(TAG)].filter(([, weak]) => weak === undefined).map(([, , tag]) => tag!));
}

/** The tag is strong, since an organization has each revision once. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

export function requireMatch({ ifMatch }: { ifMatch?: EntityTags }, revision: number): void {
  if (ifMatch !== undefined && ifMatch !== '*' && !ifMatch.has(entityTag(revision)))
    throw new PreconditionFailedError();
}

/** An answer, and the revision of the organization that it tells of. */
export interface Versioned<Answer> {
  answer: Answer;
  revision: number;
}

export type TagAnswer = <Answer>(versioned: Promise<Versioned<Answer>>) => Promise<Answer>;

export const AnswerTag = createParamDecorator((_: unknown, context: ExecutionContext): TagAnswer => {
  const reply = context.switchToHttp().getResponse<FastifyReply>();
  return async (versioned) => {
    const { answer, revision } = await versioned;
    reply.header('ETag', entityTag(revision));
    return answer;
  };
});

export class PreconditionFailedError extends Problem {
  constructor() {
    super('precondition_failed');
  }
}

export class IdempotencyKeyReusedError extends Problem {
  constructor() {
    super('idempotency_key_reused');
  }
}
