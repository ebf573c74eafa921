import { ApiProperty, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { AUTHENTICATION_METHODS, type AuthenticationMethod, type Role } from '../access/principal.js';
import {
  ApiCount,
  ApiEmail,
  ApiId,
  ApiNextCursor,
  ApiRole,
  ApiText,
  ApiTime,
} from '../openapi/decorators.js';

/** 2026-11-22T09:00:00Z */
const A_TIME = 1_795_338_000;

/** A service that handed the access token on (RFC 8693 section 4.1). */
@ApiSchema({ name: 'Actor' })
export class ActorDto {
  /** The service: `service:` and its name. */
  @ApiText(1, undefined, { example: 'service:billing' }) sub: string;

  /** The service before it. Absent for the first one. */
  @ApiProperty({ type: () => ActorDto, example: { sub: 'service:orders' } }) act?: ActorDto;
}

@ApiSchema({ name: 'KeyOfToken' })
export class KeyOfTokenDto {
  /** Id of the API key. */
  @ApiId({ example: '019a8f3e-9e50-7c43-8e6f-8a0b2c4d5e6f' }) id: string;

  /** The most that the API key may have. */
  @ApiRole() role: Role;

  /** Id of the organization that the API key is limited to. Null for a key of the user. */
  @ApiId({ nullable: true, example: null }) org: string | null;
}

export interface OrgOfToken {
  id: string;
  role: Role;
  revision: number;
}

/** Response of RFC 7662 section 2.2. If `active` is false, all other members are absent. */
export class IntrospectionResponse {
  @ApiProperty({ type: Boolean, example: true, description: 'Whether the token is valid now.' })
  active: boolean;
  @ApiProperty({ enum: ['Bearer'], example: 'Bearer' }) token_type?: 'Bearer';

  /** Issuer of the access token. */
  @ApiText(1, undefined, { example: 'accounts' }) iss?: string;

  /** Audience of the access token: one service, or Accounts and every service that accepts its tokens. */
  @ApiText(1, undefined, { example: 'accounts' }) aud?: string;

  /** Id of the user; `service:` and its name for a service that calls for itself. */
  @ApiText(1, undefined, { example: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f' }) sub?: string;

  /** Id of the session. Absent for a service and an API key, as are the members about the login. */
  @ApiId({ example: '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e' }) sid?: string;

  /** Id of the login above a delegated session. Absent for a login. */
  @ApiId({ example: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d' }) login_sid?: string;

  /** Id of the first session of the login hand-off. Absent for that session, and for a login. */
  @ApiId({ example: '019a8f3e-7e5f-7b32-8d5e-7f9a1b3c4d5e' }) branch_sid?: string;

  /** Id of the access token. */
  @ApiText(1, undefined, { example: '019a8f3e-af61-7d54-9f70-9b1c3d5e6f70' }) jti?: string;

  @ApiProperty({ type: 'integer', description: 'Time of issue, in seconds since 1970.', example: A_TIME })
  iat?: number;

  @ApiProperty({
    type: 'integer',
    description: 'Time of expiry, in seconds since 1970.',
    example: A_TIME + 86_400,
  })
  exp?: number;

  @ApiProperty({ type: 'integer', description: 'Time of the login, in seconds since 1970.', example: A_TIME })
  auth_time?: number;

  @ApiProperty({
    isArray: true,
    type: String,
    enum: AUTHENTICATION_METHODS,
    enumName: 'AuthenticationMethod',
    description: 'Methods by which the session is authenticated now (RFC 8176).',
    example: ['pwd'],
  })
  amr?: AuthenticationMethod[];

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description:
      'Session epoch of the user. Increases when all sessions are revoked. Reject access tokens with a lower ' +
      'value.',
    example: 0,
  })
  epoch?: number;

  /** Service that asked for the access token, or that it is bound to, else the audience. */
  @ApiText(1, undefined, { example: 'accounts' }) client_id?: string;

  /** The latest service that handed the access token on. Absent unless a service did. */
  @ApiProperty({ type: ActorDto, example: { sub: 'service:billing' } }) act?: ActorDto;

  /** State of the services and calls that the token depends on. Compare it with nothing. */
  @ApiCount({ example: 0 }) via_epoch?: number;

  /** The API key, if the token is one or a service handed one on. Such a token has no session. */
  @ApiProperty({ type: KeyOfTokenDto }) key?: KeyOfTokenDto;

  /** The email of the user. */
  @ApiEmail({ example: 'katherine@example.com' }) username?: string;
  @ApiProperty({ type: Boolean, example: false }) email_verified?: boolean;

  // A reference cannot be null in OpenAPI 3.0, so this schema is inline.
  @ApiProperty({
    type: 'object',
    nullable: true,
    selfRequired: false,
    required: ['id', 'role', 'revision'],
    example: { id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', role: 'owner', revision: 2 },
    properties: {
      id: { type: 'string', format: 'uuid' },
      role: { allOf: [{ $ref: getSchemaPath('Role') }] },
      revision: {
        type: 'integer',
        minimum: 1,
        description: 'Revision of the organization. Increases with each change.',
      },
    },
    description:
      'Role of the user in the organization `orgId` of the request, for an API key at most the role of the key. Null if ' +
      'the user is not a member or is suspended, if the organization is unknown or deleted, or if the key is limited to ' +
      'another one.',
  })
  org?: OrgOfToken | null;
}

const MEMBERSHIPS_EXAMPLE = [
  {
    orgId: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c',
    userId: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f',
    role: 'owner',
    orgRevision: 2,
  },
];

@ApiSchema({ name: 'Membership' })
export class MembershipDto {
  @ApiId() orgId: string;
  @ApiId() userId: string;
  @ApiRole() role: Role;

  @ApiCount({ minimum: 1, description: 'Revision of the organization. Increases with each change.' })
  orgRevision: number;

  /**
   * Time from which the organization requires two-factor authentication. Absent if it requires none, and once that time
   * has come.
   */
  @ApiTime({ example: '2100-01-01T00:00:00.000Z' }) secondFactorRequiredFrom?: string;
}

export class MembershipsResponse {
  @ApiProperty({ type: [MembershipDto], example: MEMBERSHIPS_EXAMPLE })
  memberships: MembershipDto[];

  @ApiNextCursor('MTc5NTIxOTIwMDEyMy4wMTlhOGYzZS02YTJkLTdmMTAtOGIzYy01ZDdlOWYxYTJiM2M')
  nextCursor?: string;
}
