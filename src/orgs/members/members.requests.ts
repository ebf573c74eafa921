import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { EmailSearch, IsEmailAddress } from '../../users/email.decorators.js';
import { type Role, ROLES } from '../../access/principal.js';
import { ApiId, ApiRole } from '../../openapi/decorators.js';
import { decodeCursor, decodeTextCursor } from '../../http/pages.js';
import { IfGiven, IsId, IsOneOf, PageCursor, PageLimit } from '../../http/fields.js';
import { isEntityId } from '../../identifiers/entity-id.js';

const INVALID_ROLE = 'must be member, admin or owner';
const ADDABLE_ROLES = ['member', 'admin'] as const;

export class AddMemberRequest {
  /** email of an existing account */
  @IsEmailAddress('grace@example.com') email: string;

  @IsOneOf(ADDABLE_ROLES, 'must be member or admin', { example: 'member' })
  role: (typeof ADDABLE_ROLES)[number];
}

export class ChangeMemberRoleRequest {
  @ApiRole()
  @IsIn(ROLES, { message: INVALID_ROLE })
  role: Role;
}

export class ListMembersQuery {
  @EmailSearch('beginning of the e-mails to find, such as `gra`; the list is then ordered by e-mail')
  search?: string;

  /** role of the members to find; the list is then ordered by e-mail */
  @IfGiven()
  @IsOneOf(ROLES, INVALID_ROLE, { enumName: 'Role' })
  role?: Role;

  @PageLimit(
    'members',
    (query) => !isSearch(query),
    'the default is 100 with `search` or `role`, otherwise the whole list',
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
  /** organization whose memberships to list */
  @ApiId()
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

  /** user whose memberships to list */
  @IfGiven()
  @IsId('a user')
  userId?: string;

  @PageLimit('memberships') limit?: string;
  @PageCursor() cursor?: string;
}
