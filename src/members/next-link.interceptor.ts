import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import type { MemberListResponse } from './dto/member.responses.js';
import { encodeCursor } from './member-cursor.js';
import type { MemberPage } from './member-list.service.js';

/** Says where the next page is in a `Link` header (RFC 8288), and leaves the body as without pages. */
@Injectable()
export class NextLinkInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<MemberPage>): Observable<MemberListResponse> {
    return next.handle().pipe(map((page) => (page.next ? this.link(page, context) : page)));
  }

  private link({ members, next }: MemberPage, context: ExecutionContext): MemberListResponse {
    const http = context.switchToHttp();
    const url = new URL(http.getRequest<FastifyRequest>().url, 'http://localhost');
    url.searchParams.set('cursor', encodeCursor(next!));
    http.getResponse<FastifyReply>().header('Link', `<${url.pathname}${url.search}>; rel="next"`);
    return { members };
  }
}
