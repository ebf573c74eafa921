import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, ValidateBy, ValidateIf } from 'class-validator';
import { IsOrgName } from './org-name.js';
import { isEntityId } from '../identifiers/entity-id.js';

export class CreateOrgRequest {
  /**
   * 1 to 100 characters after trimming; names need not be unique
   * @example "Analytical Engines"
   */
  @IsOrgName()
  name: string;
}

export class RenameOrgRequest {
  /**
   * 1 to 100 characters after trimming; names need not be unique
   * @example "Analytical Engines"
   */
  @IsOrgName()
  name: string;
}

export class TransferOrgRequest {
  /**
   * the member who becomes owner
   * @example "019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d"
   */
  @ApiProperty({ format: 'uuid' })
  @ValidateBy({
    name: 'isEntityId',
    validator: { validate: isEntityId, defaultMessage: () => 'must be the id of a user' },
  })
  userId: string;

  /** whether the caller leaves the organization; by default they become an admin */
  @ApiPropertyOptional({ type: Boolean, example: false })
  @ValidateIf(({ leave }: TransferOrgRequest) => leave !== undefined)
  @IsBoolean({ message: 'must be true or false' })
  leave?: boolean;
}
