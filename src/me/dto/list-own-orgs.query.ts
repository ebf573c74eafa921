import { PageCursor, PageLimit } from '../../pagination/page-query.decorators.js';

export const DEFAULT_LIMIT = 100;

export class ListOwnOrgsQuery {
  @PageLimit({ default: DEFAULT_LIMIT, description: 'organizations on a page, at most' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}
