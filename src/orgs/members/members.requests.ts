import { IsIn } from 'class-validator';
import { INVITED_ROLES, type InvitedRole } from '../state/org.entity.js';
import { IfGiven, IsOneOf, PageCursor, PageLimit } from '../../http/fields.js';
import { EmailSearch, IsEmailAddress } from '../../users/user.fields.js';
import { type Role, ROLES } from '../../access/principal.js';
import { ApiRole } from '../../openapi/decorators.js';
import { decodeCursor, decodeTextCursor } from '../../http/pages.js';

const INVALID_ROLE = 'must be member, admin or owner';

export class AddMemberRequest {
  /** The email of a registered user. */
  @IsEmailAddress('grace@example.com') email: string;

  @IsOneOf(INVITED_ROLES, 'must be member or admin', { example: 'member' }) role: InvitedRole;
}

export class ChangeMemberRoleRequest {
  @ApiRole()
  @IsIn(ROLES, { message: INVALID_ROLE })
  role: Role;
}

export class ListMembersQuery {
  @EmailSearch('Beginning of the emails to find, such as `gra`. The list is then ordered by email.')
  search?: string;

  /** Role of the members to find. The list is then ordered by email. The default is every role. */
  @IfGiven()
  @IsOneOf(ROLES, INVALID_ROLE, { enumName: 'Role' })
  role?: Role;

  /** Lists only members without two-factor authentication, for admins. The list is then ordered by email. */
  @IfGiven()
  @IsOneOf(['missing'], 'must be missing')
  secondFactor?: 'missing';

  @PageLimit(
    'members',
    (query) => !isSearch(query),
    'The default is 100 with `search`, `role` or `secondFactor`, else the whole list.',
  )
  limit?: string;

  @PageCursor((text, query: ListMembersQuery) =>
    isSearch(query) ? decodeTextCursor(text) !== undefined : decodeCursor(text) !== undefined,
  )
  cursor?: string;
}

function isSearch({ search, role, secondFactor }: ListMembersQuery): boolean {
  return search !== undefined || role !== undefined || secondFactor !== undefined;
}
