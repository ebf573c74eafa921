import { ApiProperty } from '@nestjs/swagger';

/** Done, and there is nothing to say. */
export class OkResult {
  /** @example true */
  @ApiProperty({ type: Boolean, enum: [true] })
  ok: true;
}
