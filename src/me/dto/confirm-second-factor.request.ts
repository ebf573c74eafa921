import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';

export class ConfirmSecondFactorRequest {
  /**
   * The six digits that the authenticator app shows. Spaces make no difference.
   * @example "492039"
   */
  @ApiProperty({ minLength: 6, maxLength: 64 })
  @IsString()
  code: string;
}
