import { ApiProperty } from '@nestjs/swagger';
import { type Role, ROLES } from '../access/role.js';
import { PROBLEMS } from '../problems/problem-codes.js';

export class FieldErrorResponse {
  /** @example "email" */
  field: string;

  /** @example "must be an e-mail address" */
  message: string;
}

/** The answer to everything that failed: problem details (RFC 9457). */
export class ProblemResponse {
  /** @example "about:blank" */
  type: string;

  /** @example "Bad Request" */
  title: string;

  /** @example 400 */
  status: number;

  /** @example "One or more fields are invalid; see errors." */
  detail: string;

  @ApiProperty({
    description: 'what a program branches on',
    enum: Object.keys(PROBLEMS),
    example: 'validation_failed',
  })
  code: string;

  /**
   * also in the X-Request-Id header and in the log
   * @example "2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11"
   */
  requestId: string;

  errors?: FieldErrorResponse[];

  @ApiProperty({ enum: ROLES, required: false, example: 'admin' })
  requiredRole?: Role;

  @ApiProperty({ enum: ROLES, required: false, example: 'member' })
  yourRole?: Role;
}
