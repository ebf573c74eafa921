import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { MemberCursor } from '../memberships/member-list.repository.js';
import { encodeCursor } from './member-cursor.js';

/** Puts the address of the page that begins there into the answer's `Link` header (RFC 8288). */
export type LinkNextPage = (begin: MemberCursor) => void;

export const NextPage = createParamDecorator((_: unknown, context: ExecutionContext): LinkNextPage => {
  const http = context.switchToHttp();
  return (begin) => {
    const url = new URL(http.getRequest<FastifyRequest>().url, 'http://localhost');
    url.searchParams.set('cursor', encodeCursor(begin));
    http.getResponse<FastifyReply>().header('Link', `<${url.pathname}${url.search}>; rel="next"`);
  };
});
