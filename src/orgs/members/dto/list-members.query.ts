import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import { type Role, ROLES } from '../../../access/role.js';
import { decodeCursor, decodeTextCursor } from '../../../http/pages.js';
import { PageCursor, PageLimit } from '../../../http/page-query.decorators.js';
import { EmailSearch } from '../../../users/email-search.decorator.js';

export class ListMembersQuery {
  @EmailSearch('beginning of the e-mails to find, such as `gra`; the list is then ordered by e-mail')
  search?: string;

  @ApiProperty({
    enum: ROLES,
    enumName: 'Role',
    required: false,
    description: 'role of the members to find; the list is then ordered by e-mail',
  })
  @ValidateIf((query: ListMembersQuery) => query.role !== undefined)
  @IsIn(ROLES, { message: 'must be member, admin or owner' })
  role?: Role;

  @PageLimit(
    {
      description:
        'maximum number of members on a page; the default is 100 with `search` or `role`, otherwise the whole list',
    },
    isSearch,
  )
  limit?: string;

  @PageCursor((text, query: ListMembersQuery) =>
    isSearch(query) ? decodeTextCursor(text) !== undefined : decodeCursor(text) !== undefined,
  )
  cursor?: string;
}

export function isSearch({ search, role }: ListMembersQuery): boolean {
  return search !== undefined || role !== undefined;
}
