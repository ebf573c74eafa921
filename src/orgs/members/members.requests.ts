import { IsIn } from 'class-validator';
import { EmailSearch, IsEmailAddress } from '../../users/user.fields.js';
import { type Role, ROLES } from '../../access/principal.js';
import { ApiRole } from '../../openapi/decorators.js';
import { decodeCursor, decodeTextCursor } from '../../http/pages.js';
import { IfGiven, IsOneOf, PageCursor, PageLimit } from '../../http/fields.js';

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

  /** role of the members to find; the list is then ordered by email */
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

function isSearch({ search, role }: ListMembersQuery): boolean {
  return search !== undefined || role !== undefined;
}
