import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { IfGiven, PageCursor, PageLimit } from '../http/fields.js';
import { isEntityId } from '../identifiers/entity-id.js';

const MAX_IDS = 100;

export const IDS_EXPECTED = `must be 1 to ${MAX_IDS} ids`;

/** Repeated, or with commas between the ids. Ids that are given twice count once. */
const DirectoryIds = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: [String],
      format: 'uuid',
      minItems: 1,
      maxItems: MAX_IDS,
      description: `The ids to look up, at most ${MAX_IDS}. Repeat the parameter for each.`,
    }),
    Transform(({ value }: { value: unknown }) => [...new Set([value].flat().join(',').split(','))]),
    ValidateBy({
      name: 'areEntityIds',
      validator: {
        validate: (ids) => Array.isArray(ids) && ids.length <= MAX_IDS && ids.every(isEntityId),
        defaultMessage: () => IDS_EXPECTED,
      },
    }),
  );

export class ListDirectoryUsersQuery {
  @DirectoryIds() id: string[];
}

export class ListDirectoryOrgsQuery {
  @IfGiven() @DirectoryIds() id?: string[];

  @PageLimit('organizations') limit?: string;
  @PageCursor() cursor?: string;
}
