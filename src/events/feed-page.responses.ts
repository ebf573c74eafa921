import { ApiProperty } from '@nestjs/swagger';
import { FeedEvents } from './feed.responses.js';

export class FeedResult extends FeedEvents {
  /**
   * `after` of the next request
   * @example "019a8f3e-9e50-7c43-8e6f-8a0b2c4d5e6f"
   */
  @ApiProperty({ pattern: '^[0-9a-f-]{36}$' })
  next: string;
}
