import { PageCursor, PageLimit } from '../../pagination/page-query.decorators.js';

export class ListMembersQuery {
  @PageLimit({ description: 'members on a page; by default the answer is the whole list' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}
