import { Equals, Matches, ValidateIf } from 'class-validator';
import { ApiBase64Url } from '../../openapi/api-base64url.decorator.js';

const CHALLENGE = /^[\w-]{43}$/;

const isBound = ({ codeChallenge, codeChallengeMethod }: IssueCodeRequest): boolean =>
  codeChallenge !== undefined || codeChallengeMethod !== undefined;

/** Both fields or none: PKCE (RFC 7636) binds the code to the holder of the verifier. */
export class IssueCodeRequest {
  /**
   * base64url of the SHA-256 of the verifier
   * @example "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
   */
  @ApiBase64Url(43, { required: false })
  @ValidateIf(isBound)
  @Matches(CHALLENGE, { message: 'must be 43 base64url characters' })
  codeChallenge?: string;

  /** @example "S256" */
  @ValidateIf(isBound)
  @Equals('S256', { message: 'must be S256' })
  codeChallengeMethod?: 'S256';
}
