import { ApiPropertyOptional } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';

export class EndSessionsQuery {
  /** whether the session of the token ends, too */
  @ApiPropertyOptional({ type: Boolean })
  @ValidateIf((query: EndSessionsQuery) => query.all !== undefined)
  @ValidateBy({
    name: 'isBooleanText',
    validator: {
      validate: (value) => value === 'true' || value === 'false',
      defaultMessage: () => 'must be true or false',
    },
  })
  all?: string;
}
