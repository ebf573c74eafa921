import { ApiProperty } from '@nestjs/swagger';

export const OK: OkResult = { ok: true };

/** Done, and there is nothing to say. */
export class OkResult {
  @ApiProperty({ type: Boolean, enum: [true], example: true }) ok: true;
}
