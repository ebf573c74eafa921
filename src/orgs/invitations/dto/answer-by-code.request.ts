import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';

export class AnswerByCodeRequest {
  /**
   * The code of the invitation. Case, spaces and hyphens make no difference.
   * @example "7K2M9-QX4TB"
   */
  @ApiProperty({ minLength: 10, maxLength: 64 })
  @IsString({ message: 'must be a string' })
  code: string;
}
