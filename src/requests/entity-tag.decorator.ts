import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { entityTag } from './entity-tags.js';

export type TagAnswer = (revision: number) => void;

export const AnswerTag = createParamDecorator((_: unknown, context: ExecutionContext) =>
  tagAnswerOf(context),
);

export function tagAnswerOf(context: ExecutionContext): TagAnswer {
  const reply = context.switchToHttp().getResponse<FastifyReply>();
  return (revision) => void reply.header('ETag', entityTag(revision));
}
