import { DEFAULT_LIMIT } from '../../http/pages.js';
import { PageCursor, PageLimit } from '../../http/page-query.decorators.js';

export class ListOwnOrgsQuery {
  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of organizations on a page' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}
