import { ApiProperty } from '@nestjs/swagger';
import { Matches, ValidateBy, ValidateIf } from 'class-validator';
import { decodeCursor } from '../member-cursor.js';

const LIMIT = /^(?:[1-9]\d{0,2}|1000)$/;

const IsCursor = (): PropertyDecorator =>
  ValidateBy({
    name: 'isCursor',
    validator: {
      validate: (value) => typeof value === 'string' && decodeCursor(value) !== undefined,
      defaultMessage: () => 'must be the nextCursor of a page',
    },
  });

export class ListMembersQuery {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    required: false,
    example: 100,
    description: 'members on a page; by default the answer is the whole list',
  })
  @ValidateIf((query: ListMembersQuery) => query.limit !== undefined || query.cursor !== undefined)
  @Matches(LIMIT, { message: 'must be a whole number from 1 to 1000' })
  limit?: string;

  @ApiProperty({
    required: false,
    description: '`nextCursor` of the previous page',
    pattern: '^[A-Za-z0-9_-]+$',
  })
  @ValidateIf((query: ListMembersQuery) => query.cursor !== undefined)
  @IsCursor()
  cursor?: string;
}
