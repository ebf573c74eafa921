import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { type Role, ROLES } from '../../access/role.js';
import { decodeCursor, decodeTextCursor } from '../../pagination/cursor.js';
import { PageCursor, PageLimit } from '../../pagination/page-query.decorators.js';
import { emailPrefix } from '../../users/email-address.js';

/** What is refused, and not what is left out. */
const REFUSED = Symbol('refused');

export class ListMembersQuery {
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: 254,
    example: 'gra',
    description: 'members whose e-mail begins with it, in order of the e-mail',
  })
  @Transform(({ value }: { value: unknown }) => emailPrefix(value) ?? REFUSED)
  @ValidateIf((query: ListMembersQuery) => query.search !== undefined)
  @ValidateBy({
    name: 'isEmailPrefix',
    validator: {
      validate: (value) => typeof value === 'string',
      defaultMessage: () => 'must be the beginning of an e-mail address',
    },
  })
  search?: string;

  @ApiProperty({
    enum: ROLES,
    enumName: 'Role',
    required: false,
    description: 'members with this role, in order of the e-mail',
  })
  @ValidateIf((query: ListMembersQuery) => query.role !== undefined)
  @IsIn(ROLES, { message: 'must be member, admin or owner' })
  role?: Role;

  @PageLimit(
    {
      description:
        'members on a page; by default 100 with `search` or `role`, else the answer is the whole list',
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
