import { ApiPropertyOptional } from '@nestjs/swagger';
import { Equals, ValidateIf } from 'class-validator';

export class EndSessionsQuery {
  /** also the one of the token */
  @ApiPropertyOptional({ enum: ['true'] })
  @ValidateIf((query: EndSessionsQuery) => query.all !== undefined)
  @Equals('true', { message: 'must be true' })
  all?: 'true';
}
