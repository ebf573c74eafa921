import { decodeTextCursor, DEFAULT_LIMIT } from '../../../http/pages.js';
import { PageCursor, PageLimit } from '../../../http/page-query.decorators.js';

export class ListServicesQuery {
  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of services on a page' })
  limit?: string;

  @PageCursor((text) => decodeTextCursor(text) !== undefined)
  cursor?: string;
}
