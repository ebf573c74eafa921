import { createParamDecorator, type ExecutionContext, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Problem } from '../problems/problem.js';
import { PROBLEMS } from '../problems/problem-codes.js';
import { randomBytes } from 'node:crypto';

/** `*`, or the strong tags in `If-Match` (RFC 9110 section 13.1.1) */
export type EntityTags = '*' | ReadonlySet<string>;

const MAX_LENGTH = 1000;
const LIST =
  /^[ \t,]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,(?:[ \t]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")?)*[ \t]*$/;
const STREAM_SUFFIX = /\.[\w-]+"$/;
const TAG = /(W\/)?("[^"]*")/g;

/** Returns undefined for invalid text. Omits weak tags, because the comparison is strong. */
export function parseIfMatch(text: string): EntityTags | undefined {
  if (text === '*') return text;
  if (text.length > MAX_LENGTH || !LIST.test(text)) return undefined;
  const strong = [...text.matchAll(TAG)].filter(([, weak]) => weak === undefined);
  return new Set(strong.map(([, , tag]) => tag!.replace(STREAM_SUFFIX, '"')));
}

export function entityTag(revision: number | string): string {
  return `"${revision}"`;
}

/** Returns a unique tag, because the organization may change while Accounts reads the body. */
export function streamTag(revision: number | string): string {
  return `"${revision}.${randomBytes(9).toString('base64url')}"`;
}

/** @param detail the text for what is not an organization */
export function requireMatch(
  { ifMatch }: { ifMatch?: EntityTags },
  revision: number | string,
  detail = PROBLEMS.precondition_failed.detail,
): void {
  if (ifMatch !== undefined && ifMatch !== '*' && !ifMatch.has(entityTag(revision)))
    throw new Problem('precondition_failed', { detail });
}

/** An answer with the revision of the organization or a hash of the answer, if it has a tag. */
export interface Versioned<Answer> {
  answer: Answer;
  revision: number | string | undefined;
}

export type TagAnswer = <Answer>(versioned: Promise<Versioned<Answer>>) => Promise<Answer>;

export const AnswerTag = createParamDecorator((_: unknown, context: ExecutionContext): TagAnswer => {
  const reply = context.switchToHttp().getResponse<FastifyReply>();
  return async (versioned) => {
    const { answer, revision } = await versioned;
    if (revision === undefined) return answer;
    reply.header('ETag', answer instanceof StreamableFile ? streamTag(revision) : entityTag(revision));
    return answer;
  };
});
