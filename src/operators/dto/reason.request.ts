import { ApiProperty } from '@nestjs/swagger';
import { IsOneLine } from '../../http/is-one-line.decorator.js';

const MAX_REASON = 200;

export const REASON_NEEDED = `must be text of 1 to ${MAX_REASON} characters without control characters`;

/** Every change by an operator has one. */
export class ReasonRequest {
  /**
   * why, for the record; only operators read it
   * @example "ticket 4711: asked for it by phone"
   */
  @ApiProperty({ minLength: 1, maxLength: MAX_REASON })
  @IsOneLine(MAX_REASON)
  reason: string;
}
