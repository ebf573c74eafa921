import { IsString, ValidateIf } from 'class-validator';

export class ExchangeCodeDto {
  /** @example "3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo" */
  @IsString()
  code: string;

  /**
   * Needed when the code was issued with a challenge (RFC 7636 section 4.1).
   * @example "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
   */
  @ValidateIf((dto: ExchangeCodeDto) => dto.codeVerifier !== undefined)
  @IsString()
  codeVerifier?: string;
}
