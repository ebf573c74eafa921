import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, ValidateBy, ValidateIf } from 'class-validator';
import { isEntityId } from '../../identifiers/entity-id.js';
import { ReasonRequest } from './reason.request.js';

export class MakeOwnerRequest extends ReasonRequest {
  /**
   * the user who becomes an owner
   * @example "019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d"
   */
  @ApiProperty({ format: 'uuid' })
  @ValidateBy({
    name: 'isEntityId',
    validator: { validate: isEntityId, defaultMessage: () => 'must be the id of a user' },
  })
  userId: string;

  /** whether to add somebody who is no member; by default they are refused */
  @ApiPropertyOptional({ type: Boolean, example: false })
  @ValidateIf(({ force }: MakeOwnerRequest) => force !== undefined)
  @IsBoolean({ message: 'must be true or false' })
  force?: boolean;
}
