import { IsIn } from 'class-validator';
import { INVITED_ROLES, type InvitedRole, MAX_ORG_NAME } from '../state/org.entity.js';
import { IfGiven, IsFlag, IsId, IsOneLine, IsOneOf, PageCursor, PageLimit } from '../../http/fields.js';
import { EmailSearch, IsEmailAddress } from '../../users/user.fields.js';
import { type Role, ROLES } from '../../access/principal.js';
import { ApiRole } from '../../openapi/decorators.js';
import { decodeCursor, decodeTextCursor } from '../../http/pages.js';

export class CreateOrgRequest {
  /** The name of the organization, of 1 to 100 characters after trimming. Names need not be unique. */
  @IsOneLine(MAX_ORG_NAME, { example: 'Analytical Engines' }) name: string;
}

export class RenameOrgRequest extends CreateOrgRequest {}

export class TransferOrgRequest {
  /** Id of the member who becomes owner. */
  @IsId('a user', { example: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d' }) userId: string;

  /** Whether the caller leaves the organization. The default is false: the caller becomes an admin. */
  @IsFlag({ example: false }) leave?: boolean;
}

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

  @PageLimit(
    'members',
    (query) => !isSearch(query),
    'The default is 100 with `search` or `role`, else the whole list.',
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
