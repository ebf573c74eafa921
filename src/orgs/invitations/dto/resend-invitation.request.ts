import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, ValidateIf } from 'class-validator';

export class ResendInvitationRequest {
  /** Returns the code in the answer, only this once, instead of mailing it, so that you can hand it over yourself. */
  @ApiPropertyOptional({ type: Boolean, example: true })
  @ValidateIf(({ showCode }: ResendInvitationRequest) => showCode !== undefined)
  @IsBoolean({ message: 'must be true or false' })
  showCode?: boolean;
}
