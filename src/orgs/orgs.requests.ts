import { Transform } from 'class-transformer';
import { ValidateBy, ValidateIf } from 'class-validator';
import { MAX_ORG_NAME } from './state/org.entity.js';
import { IfGiven, IsFlag, IsId, IsOneLine } from '../http/fields.js';
import { parseTime } from '../identifiers/text.js';
import { ApiTime } from '../openapi/decorators.js';

export class CreateOrgRequest {
  /** The name of the organization, of 1 to 100 characters after trimming. Names need not be unique. */
  @IsOneLine(MAX_ORG_NAME, { example: 'Analytical Engines' }) name: string;
}

const INVALID_TIME = 'must be a time with its zone, such as 2027-01-01T00:00:00Z, or null';

/** Admins may change the name. Only owners may change the requirement. */
export class UpdateOrgRequest {
  /** The new name, under the rules of the creation. It may be absent if `secondFactorRequiredFrom` is given. */
  @ValidateIf(
    ({ name, secondFactorRequiredFrom: from }: UpdateOrgRequest) => name !== undefined || from === undefined,
  )
  @IsOneLine(MAX_ORG_NAME, { example: 'Analytical Engines' })
  name?: string;

  /**
   * Time from which members need two-factor authentication (RFC 3339). A time that has passed takes effect
   * immediately. Null ends the requirement.
   */
  @ApiTime({ nullable: true, example: '2100-01-01T00:00:00.000Z' })
  @IfGiven()
  @Transform(({ value }: { value: unknown }) => (value === null ? null : (parseTime(value) ?? Number.NaN)))
  @ValidateBy({
    name: 'isTimeOrNull',
    validator: {
      validate: (value) => value === null || Number.isFinite(value),
      defaultMessage: () => INVALID_TIME,
    },
  })
  secondFactorRequiredFrom?: number | null;
}

/** Swagger UI sends the first one as it stands. */
export const ORG_CHANGES = {
  name: { summary: 'another name', value: { name: 'Analytical Engines' } },
  requirement: {
    summary: 'two-factor authentication is required from then on',
    value: { secondFactorRequiredFrom: '2100-01-01T00:00:00.000Z' },
  },
};

export class TransferOrgRequest {
  /** Id of the member who becomes owner. */
  @IsId('a user', { example: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d' }) userId: string;

  /** Whether the caller leaves the organization. The default is false: the caller becomes an admin. */
  @IsFlag({ example: false }) leave?: boolean;
}
