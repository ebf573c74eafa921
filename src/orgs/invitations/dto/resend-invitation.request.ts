import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, ValidateIf } from 'class-validator';

export class ResendInvitationRequest {
  /** The answer has the code, once, instead of a mail: hand it over yourself. */
  @ApiPropertyOptional({ type: Boolean, example: true })
  @ValidateIf(({ showCode }: ResendInvitationRequest) => showCode !== undefined)
  @IsBoolean({ message: 'must be true or false' })
  showCode?: boolean;
}
