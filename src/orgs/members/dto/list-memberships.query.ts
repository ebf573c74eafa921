import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';
import { isEntityId } from '../../../identifiers/entity-id.js';
import { DEFAULT_LIMIT } from '../../../http/pages.js';
import { PageCursor, PageLimit } from '../../../http/page-query.decorators.js';

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
