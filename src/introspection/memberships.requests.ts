import { ValidateBy, ValidateIf } from 'class-validator';
import { IfGiven, IsId, PageCursor, PageLimit } from '../http/fields.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { ApiId } from '../openapi/decorators.js';

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
