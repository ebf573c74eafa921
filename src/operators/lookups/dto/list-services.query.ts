import { decodeTextCursor } from '../../../pagination/cursor.js';
import { DEFAULT_LIMIT } from '../../../pagination/page.js';
import { PageCursor, PageLimit } from '../../../pagination/page-query.decorators.js';

export class ListServicesQuery {
  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of services on a page' })
  limit?: string;

  @PageCursor((text) => decodeTextCursor(text) !== undefined)
  cursor?: string;
}
