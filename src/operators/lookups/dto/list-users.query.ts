import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import { decodeTextCursor, DEFAULT_LIMIT } from '../../../http/pages.js';
import { PageCursor, PageLimit } from '../../../http/page-query.decorators.js';
import { EmailSearch } from '../../../users/email-search.decorator.js';

const STATUSES = ['active', 'disabled'] as const;

export class ListUsersQuery {
  @EmailSearch('beginning of the e-mails to find, such as `gra`')
  search?: string;

  @ApiProperty({
    enum: STATUSES,
    required: false,
    description:
      'status of the accounts to find; the search for a page of active ones ends after five times `limit` accounts, ' +
      'so a page can be short although a next one exists',
  })
  @ValidateIf((query: ListUsersQuery) => query.status !== undefined)
  @IsIn(STATUSES, { message: 'must be active or disabled' })
  status?: (typeof STATUSES)[number];

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of users on a page' })
  limit?: string;

  @PageCursor((text) => decodeTextCursor(text) !== undefined)
  cursor?: string;
}
