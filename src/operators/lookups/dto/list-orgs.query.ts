import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import { IsOneLine } from '../../../http/is-one-line.decorator.js';
import { MAX_ORG_NAME } from '../../../orgs/org.entity.js';
import { decodeNameCursor, DEFAULT_LIMIT } from '../../../http/pages.js';
import { PageCursor, PageLimit } from '../../../http/page-query.decorators.js';

const STATUSES = ['active', 'deleted'] as const;

export class ListOrgsQuery {
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: MAX_ORG_NAME,
    description: 'beginning of the names to find, such as `Analyt`, in upper and lower case as in the name',
  })
  @ValidateIf((query: ListOrgsQuery) => query.search !== undefined)
  @IsOneLine(MAX_ORG_NAME)
  search?: string;

  @ApiProperty({
    enum: STATUSES,
    required: false,
    description:
      'status of the organizations to find; the search for a page of active ones ends after five times `limit` ' +
      'organizations, so a page can be short although a next one exists',
  })
  @ValidateIf((query: ListOrgsQuery) => query.status !== undefined)
  @IsIn(STATUSES, { message: 'must be active or deleted' })
  status?: (typeof STATUSES)[number];

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of organizations on a page' })
  limit?: string;

  @PageCursor((text) => decodeNameCursor(text) !== undefined)
  cursor?: string;
}
