import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ApiId, ApiNextCursor, ApiText, ApiTime } from '../openapi/decorators.js';
import { OrgDto, OrgMembership } from '../orgs/state/orgs.responses.js';
import { ProfileDto, UserDto } from '../users/user.fields.js';
import { MAX_DEVICE_NAME } from '../auth/sessions/sessions.requests.js';

/** the answer without `include` */
const ME = { id: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', email: 'ada@example.com' };
const ORG = { id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines' };

@ApiSchema({ name: 'CurrentUser' })
export class CurrentUserDto extends UserDto {
  /** Whether the email is verified. Present with `include=account`. */
  @ApiProperty({ example: false }) emailVerified?: boolean;

  /** The profile of the user. Present with `include=profile`. */
  profile?: ProfileDto;
}

export class ProfileResponse {
  profile: ProfileDto;
}

export class CurrentUserResponse {
  @ApiProperty({ type: CurrentUserDto, example: ME }) user: CurrentUserDto;
  @ApiProperty({ type: [OrgMembership], example: [ORG] }) orgs: OrgMembership[];
}

@ApiSchema({ name: 'LinkedProvider' })
class LinkedProviderDto {
  /** The name of the provider, for requests. */
  @ApiText(1, 40) name: string;

  /** The title of the provider, for users. */
  @ApiText(1, 100) title: string;

  /** Time at which the user was linked. */
  @ApiTime() linkedAt: string;
}

@ApiSchema({ name: 'Logins' })
export class LoginsDto {
  /** Whether the user has a password. */
  @ApiProperty() password: boolean;

  /** The providers where the user can log in, by name. */
  @ApiProperty({ type: [LinkedProviderDto] }) providers: LinkedProviderDto[];
}

export class AccountResponse {
  user: UserDto;

  @ApiProperty({ example: false }) emailVerified: boolean;
  @ApiTime({ example: '2026-11-22T09:00:00.000Z' }) createdAt: string;

  /** Time of the last password change. Null if there was none. */
  @ApiTime({ nullable: true, example: '2026-11-22T09:30:00.000Z' }) passwordChangedAt: string | null;

  /** How the user can log in. Present with `include=logins`. */
  @ApiProperty({ example: { password: true, providers: [] } }) logins?: LoginsDto;
}

/** The creator of an organization owns it. */
export const OWN_ORG = { ...ORG, role: 'owner', joinedAt: '2026-11-22T09:00:00.000Z' };

@ApiSchema({ name: 'DeletedOrg' })
export class DeletedOrgDto extends OrgDto {
  @ApiTime({ example: '2026-11-22T09:00:00.000Z' }) deletedAt: string;

  /** End of the time in which an owner can restore the organization. */
  @ApiTime({ example: '2026-12-22T09:00:00.000Z' }) purgeAt: string;
}

class OrgsPage {
  @ApiNextCursor('MTc5NTIxOTIwMDEyMy4wMTlhOGYzZS02YTJkLTdmMTAtOGIzYy01ZDdlOWYxYTJiM2M')
  nextCursor?: string;
}

export class OrgMembershipsResponse extends OrgsPage {
  @ApiProperty({ type: [OrgMembership], example: [OWN_ORG] }) orgs: OrgMembership[];
}

export class DeletedOrgsResponse extends OrgsPage {
  @ApiProperty({ type: [DeletedOrgDto] }) orgs: DeletedOrgDto[];
}

export const VIA = ['password', 'code'] as const;

export class SessionSummary {
  @ApiId() id: string;

  /** Value `password` if a login or registration opened the session, `code` if a one-time code did. */
  @ApiProperty({ enum: VIA }) via: (typeof VIA)[number];
  @ApiTime() createdAt: string;

  /** Time of the last refresh, or of the start if there was none. */
  @ApiTime() lastUsedAt: string;
  @ApiTime() expiresAt: string;

  /** The client IP address that opened the session. Null if it is unknown. */
  @ApiText(2, 45, { nullable: true }) ip: string | null;

  /** The `User-Agent` of the client that opened the session. Null if it is unknown. */
  @ApiText(1, 200, { nullable: true }) userAgent: string | null;

  /** The name of the device, given at login. Null if none was given, or if a one-time code opened the session. */
  @ApiText(1, MAX_DEVICE_NAME, { nullable: true }) deviceName: string | null;

  /** Name of the service that exchanged the code with its credentials. Null if none did. */
  @ApiText(1, 40, { nullable: true }) service: string | null;
}

interface SessionLogin {
  by: 'password' | 'provider';
  provider: string | null;
}

@ApiSchema({ name: 'Session' })
export class SessionDto extends SessionSummary {
  /** Whether this is the session of the access token. */
  @ApiProperty() current: boolean;

  // A reference cannot be null in OpenAPI 3.0, so this schema is inline.
  @ApiProperty({
    type: 'object',
    nullable: true,
    selfRequired: false,
    required: ['by', 'provider'],
    example: { by: 'provider', provider: 'acme' },
    properties: {
      by: { type: 'string', enum: ['password', 'provider'], description: 'What the user logged in with.' },
      provider: {
        type: 'string',
        nullable: true,
        minLength: 1,
        maxLength: 40,
        description: 'Name of the provider. Null if the user logged in with a password.',
      },
    },
    description:
      'How the user logged in. Null if a one-time code opened the session. Present with `include=login`.',
  })
  login?: SessionLogin | null;
}

export const SESSION_EXAMPLE: SessionSummary = {
  id: '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e',
  via: 'password',
  createdAt: '2026-11-22T09:00:00.000Z',
  lastUsedAt: '2026-11-22T09:30:00.000Z',
  expiresAt: '2026-12-06T09:30:00.000Z',
  ip: '198.51.100.7',
  userAgent: 'Analytical Desktop/1.4 (Linux)',
  deviceName: "Ada's laptop",
  service: null,
};

export class SessionsResponse {
  @ApiProperty({ type: [SessionDto], example: [{ ...SESSION_EXAMPLE, current: true }] })
  sessions: SessionDto[];
}

const RECOVERY_CODES = [
  '7K2M9-QX4TB-0V8NC-H3WRE-5YGJ1Z',
  'D4PAS-1T9VF-K6X0M-2QBNH-8CWEY3',
  'X9RJ3-5ZT7G-W1KQC-V0MHA-4NBD8E',
  'B8FYN-2HSE6-3RVXJ-T7PKD-G1MQ0W',
  '0CWQ5-M4YA9-8JTFB-6ZRVN-XH2KGS',
  'G3HXK-7NP1D-QSA5V-9EMWT-JB0CR6',
  'V6TBR-K0MZ8-4YDHQ-C1XJS-2WFNE7',
  'N1EGZ-X5WQC-7BKRP-3SVMA-T9HYD4',
  'M7SVA-9DRJH-E2TGX-0FNYB-6PKC5Q',
  'J2QND-3XKFW-V9MEY-B4HTC-R7ZA1G',
];

export class SecondFactorResponse {
  @ApiProperty({ example: true }) enabled: boolean;

  /** Time at which two-factor authentication was turned on. Null if it is off. */
  @ApiTime({ nullable: true, example: '2026-11-22T09:30:00.000Z' }) enabledAt: string | null;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10, example: 10 }) recoveryCodesLeft: number;
}

export class EnrollmentResponse {
  /**
   * The secret in base32, to type into an authenticator app.
   * @example "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
   */
  @ApiProperty({ pattern: '^[A-Z2-7]{32}$' })
  secret: string;

  /** The secret as an `otpauth` URI with the email and the issuer, to show as a QR code. */
  @ApiProperty({
    pattern: '^otpauth://totp/',
    example:
      'otpauth://totp/accounts:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=accounts&algorithm=SHA1&digits=6&period=30',
  })
  uri: string;
}

export class RecoveryCodesResponse {
  /** The new recovery codes. Each works once. They are not shown again. */
  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: '^(?:[0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{6}$' },
    minItems: 10,
    maxItems: 10,
    example: RECOVERY_CODES,
  })
  recoveryCodes: string[];
}
