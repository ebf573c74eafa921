import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sets the `Link` header to the page at that cursor (RFC 8288). */
export type LinkNextPage = (cursor: string) => void;

export const NextPage = createParamDecorator((_: unknown, context: ExecutionContext): LinkNextPage => {
  const http = context.switchToHttp();
  return (cursor) => {
    const url = new URL(http.getRequest<FastifyRequest>().url, 'http://localhost');
    url.searchParams.set('cursor', cursor);
    http.getResponse<FastifyReply>().header('Link', `<${url.pathname}${url.search}>; rel="next"`);
  };
});
