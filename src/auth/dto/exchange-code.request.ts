import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, ValidateIf } from 'class-validator';
import { ApiBase64Url } from '../../openapi/decorators.js';

export class ExchangeCodeRequest {
  /** @example "3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo" */
  @ApiBase64Url(43)
  @IsString()
  code: string;

  /**
   * The verifier (RFC 7636 section 4.1). Required if the code was issued with a challenge.
   * @example "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
   */
  @ApiPropertyOptional({ pattern: '^[A-Za-z0-9._~-]+$', minLength: 43, maxLength: 128 })
  @ValidateIf((body: ExchangeCodeRequest) => body.codeVerifier !== undefined)
  @IsString()
  codeVerifier?: string;
}
