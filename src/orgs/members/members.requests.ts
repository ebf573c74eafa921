import { Transform } from 'class-transformer';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { INVITED_ROLES, type InvitedRole, MAX_ORG_NAME } from '../state/org.entity.js';
import { IfGiven, IsFlag, IsId, IsOneLine, IsOneOf, PageCursor, PageLimit } from '../../http/fields.js';
import { EmailSearch, IsEmailAddress } from '../../users/user.fields.js';
import { type Role, ROLES } from '../../access/principal.js';
import { parseTime } from '../../identifiers/text.js';
import { ApiRole, ApiTime } from '../../openapi/decorators.js';
import { decodeCursor, decodeTextCursor } from '../../http/pages.js';

export class CreateOrgRequest {
  /** The name of the organization, of 1 to 100 characters after trimming. Names need not be unique. */
  @IsOneLine(MAX_ORG_NAME, { example: 'Analytical Engines' }) name: string;
}

const INVALID_TIME = 'must be a time with its zone, such as 2027-01-01T00:00:00Z, or null';

/** Admins may change the name. Only owners may change the requirement. */
export class UpdateOrgRequest {
  /** The new name, under the rules of the creation. It may be absent if `secondFactorRequiredFrom` is given. */
  @ValidateIf(
    ({ name, secondFactorRequiredFrom: from }: UpdateOrgRequest) => name !== undefined || from === undefined,
  )
  @IsOneLine(MAX_ORG_NAME, { example: 'Analytical Engines' })
  name?: string;

  /**
   * Time from which members need two-factor authentication (RFC 3339). A time that has passed takes effect
   * immediately. Null ends the requirement.
   */
  @ApiTime({ nullable: true, example: '2100-01-01T00:00:00.000Z' })
  @IfGiven()
  @Transform(({ value }: { value: unknown }) => (value === null ? null : (parseTime(value) ?? Number.NaN)))
  @ValidateBy({
    name: 'isTimeOrNull',
    validator: {
      validate: (value) => value === null || Number.isFinite(value),
      defaultMessage: () => INVALID_TIME,
    },
  })
  secondFactorRequiredFrom?: number | null;
}

/** Swagger UI sends the first one as it stands. */
export const ORG_CHANGES = {
  name: { summary: 'another name', value: { name: 'Analytical Engines' } },
  requirement: {
    summary: 'two-factor authentication is required from then on',
    value: { secondFactorRequiredFrom: '2100-01-01T00:00:00.000Z' },
  },
};

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
