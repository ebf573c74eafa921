import { ApiPropertyOptional } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';

export class EndSessionsQuery {
  /** also the one of the token */
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
