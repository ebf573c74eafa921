import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, ValidateIf } from 'class-validator';

export class AnswerInvitationRequest {
  /**
   * The code of the invitation. Required while the e-mail is not verified. Case, spaces and hyphens make no difference.
   * @example "7K2M9-QX4TB"
   */
  @ApiPropertyOptional({ minLength: 10, maxLength: 64 })
  @ValidateIf(({ code }: AnswerInvitationRequest) => code !== undefined)
  @IsString({ message: 'must be a string' })
  code?: string;
}
