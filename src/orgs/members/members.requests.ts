import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { EmailSearch, IsEmailAddress } from '../../users/email.decorators.js';
import { type Role, ROLES } from '../../access/principal.js';
import { ApiRole } from '../../openapi/decorators.js';
import { decodeCursor, decodeTextCursor, DEFAULT_LIMIT } from '../../http/pages.js';
import { PageCursor, PageLimit } from '../../http/fields.js';
import { isEntityId } from '../../identifiers/entity-id.js';

const ADDABLE_ROLES = ['member', 'admin'] as const;

export class AddMemberRequest {
  /**
   * email of an existing account
   * @example "grace@example.com"
   */
  @IsEmailAddress()
  email: string;

  @ApiProperty({ enum: ADDABLE_ROLES, example: 'member' })
  @IsIn(ADDABLE_ROLES, { message: 'must be member or admin' })
  role: (typeof ADDABLE_ROLES)[number];
}

export class ChangeMemberRoleRequest {
  @ApiRole()
  @IsIn(ROLES, { message: 'must be member, admin or owner' })
  role: Role;
}

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

export const ONE_IS_NEEDED = 'must be given, unless userId is';

export class ListMembershipsQuery {
  @ApiProperty({ required: false, format: 'uuid', description: 'organization whose memberships to list' })
  @ValidateIf(({ orgId, userId }: ListMembershipsQuery) => orgId !== undefined || userId === undefined)
  @ValidateBy({
    name: 'isEntityId',
    validator: {
      validate: isEntityId,
      defaultMessage: (one) =>
        one?.value === undefined ? ONE_IS_NEEDED : 'must be the id of an organization',
    },
  })
  orgId?: string;

  @ApiProperty({ required: false, format: 'uuid', description: 'user whose memberships to list' })
  @ValidateIf(({ userId }: ListMembershipsQuery) => userId !== undefined)
  @ValidateBy({
    name: 'isEntityId',
    validator: { validate: isEntityId, defaultMessage: () => 'must be the id of a user' },
  })
  userId?: string;

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of memberships on a page' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}
