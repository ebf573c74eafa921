import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, ValidateIf } from 'class-validator';
import { ReasonRequest } from './reason.request.js';

export class ForcibleRequest extends ReasonRequest {
  /** whether to do what would leave an organization without an enabled owner; by default it is refused */
  @ApiPropertyOptional({ type: Boolean, example: false })
  @ValidateIf(({ force }: ForcibleRequest) => force !== undefined)
  @IsBoolean({ message: 'must be true or false' })
  force?: boolean;
}
