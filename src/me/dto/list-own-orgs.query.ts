import { DEFAULT_LIMIT } from '../../pagination/page.js';
import { PageCursor, PageLimit } from '../../pagination/page-query.decorators.js';

export class ListOwnOrgsQuery {
  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of organizations on a page' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}
