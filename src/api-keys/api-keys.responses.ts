import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Role } from '../access/principal.js';
import { ApiEmail, ApiId, ApiRole, ApiText, ApiTime } from '../openapi/decorators.js';
import { SERVICE_NAME } from '../services/service-secrets.js';
import { API_KEY_STATES, type ApiKeyState, MAX_API_KEY_NAME } from './api-keys.repository.js';

/** Its checksum is wrong, so scanners of source code ignore it. */
export const AN_API_KEY = `ack_${'0'.repeat(49)}`;

const LISTED = {
  id: '019a8f3e-9e5a-7c43-8e6f-8a0b2c4d5e6f',
  name: 'nightly export',
  audience: 'billing',
  role: 'member',
  state: 'active',
  createdAt: '2026-11-22T09:00:00.000Z',
  expiresAt: '2027-02-20T09:00:00.000Z',
  lastUsedAt: null,
};

@ApiSchema({ name: 'ApiKey' })
export class ApiKeyDto {
  @ApiId({ example: LISTED.id }) id: string;

  /** Name of the API key, which its user chose. */
  @ApiText(1, MAX_API_KEY_NAME, { example: LISTED.name }) name: string;

  /** Name of the one service that the API key is for. */
  @ApiProperty({ pattern: SERVICE_NAME.source, example: LISTED.audience }) audience: string;

  /** The highest role that the API key has. */
  @ApiRole() role: Role;

  /**
   * Whether the API key works now. A suspended one works again if its service accepts API keys and its user is enabled
   * and, for an organization, a member who is not suspended.
   */
  @ApiProperty({ enum: API_KEY_STATES, enumName: 'ApiKeyState' }) state: ApiKeyState;

  @ApiTime({ example: LISTED.createdAt }) createdAt: string;

  /** Time at which the API key expires. */
  @ApiTime({ example: LISTED.expiresAt }) expiresAt: string;

  /** Hour of the last use. Null if it was not used. */
  @ApiTime({ nullable: true }) lastUsedAt: string | null;
}

export class ApiKeysResponse {
  /** API keys of the user, latest first. */
  @ApiProperty({ type: [ApiKeyDto], example: [LISTED] }) apiKeys: ApiKeyDto[];

  /** Names of the services that accept API keys. */
  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: SERVICE_NAME.source },
    example: ['billing'],
  })
  audiences: string[];
}

export class CreatedApiKeyResponse {
  /** The new API key, without its text. */
  @ApiProperty({ type: ApiKeyDto, example: LISTED }) apiKey: ApiKeyDto;

  /** The API key. It is not returned again. */
  @ApiProperty({ pattern: '^ack_[0-9A-Za-z]{49}$', example: AN_API_KEY }) key: string;
}

export const LISTED_OF_ORG = {
  ...LISTED,
  user: { id: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', email: 'ada@example.com' },
};

/** The user as whom a program with the API key acts. */
export class ApiKeyUser {
  @ApiId() id: string;
  @ApiEmail() email: string;
}

@ApiSchema({ name: 'OrgApiKey' })
export class OrgApiKeyDto extends ApiKeyDto {
  /** The user who made the API key, and as whom it acts. */
  @ApiProperty({ example: LISTED_OF_ORG.user }) user: ApiKeyUser;
}

export class OrgApiKeysResponse {
  /** API keys of the organization, latest first. */
  @ApiProperty({ type: [OrgApiKeyDto], example: [LISTED_OF_ORG] }) apiKeys: OrgApiKeyDto[];

  /** Names of the services that accept API keys. */
  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: SERVICE_NAME.source },
    example: ['billing'],
  })
  audiences: string[];
}

export class CreatedOrgApiKeyResponse {
  /** The new API key, without its text. */
  @ApiProperty({ type: OrgApiKeyDto, example: LISTED_OF_ORG }) apiKey: OrgApiKeyDto;

  /** The API key. It is not returned again, not even in a replayed response. */
  @ApiProperty({ pattern: '^ack_[0-9A-Za-z]{49}$', example: AN_API_KEY }) key?: string;
}
