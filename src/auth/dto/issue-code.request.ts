import { Equals, Matches, ValidateIf } from 'class-validator';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ApiBase64Url } from '../../openapi/decorators.js';
import { SERVICE_NAME } from '../../services/service-name.js';

const CHALLENGE = /^[\w-]{43}$/;

const hasChallenge = ({ codeChallenge, codeChallengeMethod }: IssueCodeRequest): boolean =>
  codeChallenge !== undefined || codeChallengeMethod !== undefined;

/** Both fields of PKCE or none: they bind the code to the holder of the verifier (RFC 7636). */
export class IssueCodeRequest {
  /**
   * base64url of the SHA-256 of the verifier
   * @example "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
   */
  @ApiBase64Url(43, { required: false })
  @ValidateIf(hasChallenge)
  @Matches(CHALLENGE, { message: 'must be 43 base64url characters' })
  codeChallenge?: string;

  /** @example "S256" */
  @ValidateIf(hasChallenge)
  @Equals('S256', { message: 'must be S256' })
  codeChallengeMethod?: 'S256';

  /**
   * name of the one service that may exchange the code
   * @example "billing"
   */
  @ApiPropertyOptional({ pattern: SERVICE_NAME.source })
  @ValidateIf(({ audience }: IssueCodeRequest) => audience !== undefined)
  @Matches(SERVICE_NAME, { message: 'must be the name of a service' })
  audience?: string;
}
