import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { entityTag } from './entity-tags.js';

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
