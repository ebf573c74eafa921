import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import { type Role, ROLES } from '../../../access/role.js';
import { decodeTextCursor, DEFAULT_LIMIT } from '../../../http/pages.js';
import { PageCursor, PageLimit } from '../../../http/page-query.decorators.js';
import { EmailSearch } from '../../../users/email-search.decorator.js';

export class ListOrgMembersQuery {
  @EmailSearch('beginning of the e-mails to find, such as `gra`')
  search?: string;

  @ApiProperty({ enum: ROLES, enumName: 'Role', required: false, description: 'role of the members to find' })
  @ValidateIf((query: ListOrgMembersQuery) => query.role !== undefined)
  @IsIn(ROLES, { message: 'must be member, admin or owner' })
  role?: Role;

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of members on a page' })
  limit?: string;

  @PageCursor((text) => decodeTextCursor(text) !== undefined)
  cursor?: string;
}
