import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { type Role, ROLES } from '../../../access/role.js';
import { decodeCursor, decodeTextCursor } from '../../../pagination/cursor.js';
import { PageCursor, PageLimit } from '../../../pagination/page-query.decorators.js';
import { emailPrefix } from '../../../users/email-address.js';

const MAX_LENGTH = 254;
/** A search for text that no e-mail can begin with finds nothing, like any other that finds nothing. */
const NO_BEGINNING = ' ';

export class ListMembersQuery {
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: MAX_LENGTH,
    description: 'beginning of the e-mails to find, such as `gra`; the list is then ordered by e-mail',
  })
  @Transform(({ value }: { value: unknown }) => toPrefix(value))
  @ValidateIf((query: ListMembersQuery) => query.search !== undefined)
  @ValidateBy({
    name: 'isEmailPrefix',
    validator: {
      validate: (value) => typeof value === 'string',
      defaultMessage: () => `must be a single text of 1 to ${MAX_LENGTH} characters`,
    },
  })
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

/** @returns null for what is refused, unlike undefined, which is left out */
function toPrefix(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > MAX_LENGTH) return null;
  return emailPrefix(value) ?? NO_BEGINNING;
}

export function isSearch({ search, role }: ListMembersQuery): boolean {
  return search !== undefined || role !== undefined;
}
