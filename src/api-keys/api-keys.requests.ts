import { Transform } from 'class-transformer';
import { IsString, Matches, ValidateBy } from 'class-validator';
import { ApiProperty } from '@nestjs/swagger';
import { type Role, ROLES } from '../access/principal.js';
import { IfGiven, IsOneLine, IsOneOf } from '../http/fields.js';
import { parseTime } from '../identifiers/text.js';
import { ApiText, ApiTime } from '../openapi/decorators.js';
import { ValidationProblem } from '../problems/problem.js';
import { SERVICE_NAME, SERVICE_NEEDED } from '../services/service-secrets.js';
import { MAX_API_KEY_NAME } from './api-keys.repository.js';
import { AN_API_KEY } from './api-keys.responses.js';

/** of a request; the form of an API key is decided later, as for every other text */
const MAX_TEXT = 16_384;
const DEFAULT_MAX_AGE_SECONDS = 90 * 86_400;

const INVALID_TIME = 'must be a time with its zone, such as 2027-01-01T00:00:00Z';
const WRONG_EXPIRY = 'must be a time in the future, and no later than the maximum age of an API key allows';

export const KEY_PARAM = {
  name: 'keyId',
  type: String,
  format: 'uuid',
  description: 'Id of the API key, from its creation or from a list of API keys.',
};

export class CreateApiKeyRequest {
  /** What the API key is for, of 1 to 60 characters after trimming. Names need not be unique. */
  @IsOneLine(MAX_API_KEY_NAME, { example: 'nightly export' }) name: string;

  /** Name of the one service that the API key is for, from `audiences` of the list. */
  @ApiProperty({ pattern: SERVICE_NAME.source, example: 'billing' })
  @Matches(SERVICE_NAME, { message: SERVICE_NEEDED })
  audience: string;

  /** The highest role that the API key has, even if its user has a higher one. The default is `member`. */
  @IfGiven()
  @IsOneOf(ROLES, 'must be member, admin or owner', { enumName: 'Role', example: 'member' })
  role?: Role;

  /** Time at which the API key expires (RFC 3339), at most 365 days ahead (configurable). The default is 90 days. */
  @ApiTime({ example: '2026-12-31T00:00:00.000Z' })
  @IfGiven()
  @Transform(({ value }: { value: unknown }) => (value === undefined ? value : (parseTime(value) ?? null)))
  @ValidateBy({
    name: 'isTime',
    validator: { validate: (value) => value !== null, defaultMessage: () => INVALID_TIME },
  })
  expiresAt?: number;
}

/** Swagger UI sends the first one as it stands, so it names no time, which would pass. */
export const KEY_CREATIONS = {
  usual: { summary: 'a key for 90 days', value: { name: 'nightly export', audience: 'billing' } },
  until: {
    summary: 'a key for an admin until a given time',
    value: {
      name: 'nightly export',
      audience: 'billing',
      role: 'admin',
      expiresAt: '2026-12-31T00:00:00.000Z',
    },
  },
};

/** @throws ValidationProblem */
export function expiryOf(
  { expiresAt }: Pick<CreateApiKeyRequest, 'expiresAt'>,
  now: number,
  maxAgeSeconds: number,
): number {
  const latest = now + maxAgeSeconds * 1000;
  if (expiresAt === undefined) return Math.min(now + DEFAULT_MAX_AGE_SECONDS * 1000, latest);
  if (expiresAt <= now || expiresAt > latest)
    throw new ValidationProblem([{ field: 'expiresAt', message: WRONG_EXPIRY }]);
  return expiresAt;
}

export class RevokeFoundKeyRequest {
  /** The API key, or a text with it, such as the line of the file in which it was found. */
  @ApiText(1, MAX_TEXT, { example: AN_API_KEY })
  @IsString()
  key: string;
}
