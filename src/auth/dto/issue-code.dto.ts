import { Equals, Matches, ValidateIf } from 'class-validator';

/** Both fields or none: PKCE (RFC 7636) binds the code to whoever holds the verifier. */
export class IssueCodeDto {
  /**
   * base64url of the SHA-256 of the verifier
   * @example "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
   */
  @ValidateIf((dto: IssueCodeDto) => dto.codeChallenge !== undefined || dto.codeChallengeMethod !== undefined)
  @Matches(/^[\w-]{43}$/, { message: 'must be 43 base64url characters' })
  codeChallenge?: string;

  /** @example "S256" */
  @ValidateIf((dto: IssueCodeDto) => dto.codeChallenge !== undefined || dto.codeChallengeMethod !== undefined)
  @Equals('S256', { message: 'must be S256' })
  codeChallengeMethod?: 'S256';
}
