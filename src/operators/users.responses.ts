import { IdentityDto } from '../auth/providers/providers.responses.js';
import { ApiProperty, ApiSchema, IntersectionType, PartialType } from '@nestjs/swagger';
import { FailedLoginsDto } from '../auth/sessions/sessions.responses.js';
import { OkResponse } from '../http/fields.js';
import { OWN_ORG, SESSION_EXAMPLE, SessionSummary } from '../me/me.responses.js';
import {
  ApiComplete,
  ApiCount,
  ApiEmail,
  ApiId,
  ApiNextCursor,
  ApiText,
  ApiTime,
} from '../openapi/decorators.js';
import { OrgMembership } from '../orgs/state/orgs.responses.js';
import { ProfileDto, UserDto } from '../users/user.fields.js';

const ADA = {
  id: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f',
  email: 'ada@example.com',
  emailVerified: false,
  createdAt: '2026-11-22T09:00:00.000Z',
  disabledAt: null,
  operator: false,
  secondFactor: false,
};
const ADAS_PROFILE = { name: 'Ada Lovelace', avatarUrl: null, locale: 'en-GB' };
const ADAS_DETAILS = {
  passwordChangedAt: null,
  lastLoginAt: '2026-11-22T09:00:00.000Z',
  failedLogins: { count: 3, lastAt: '2026-11-22T10:00:00.000Z', lastIp: '198.51.100.7' },
};
const UNLIMITED = { loginLimits: [], loginLimitsOf: 'instance' };
const NEW_USER = {
  ...ADA,
  ...ADAS_PROFILE,
  locale: null,
  passwordChangedAt: null,
  lastLoginAt: null,
  failedLogins: { count: 0, lastAt: null, lastIp: null },
};
const ORPHANED = { id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines', isDeleted: false };

const EMAILED_CODE = '^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$';

class AnyUser extends UserDto {
  @ApiProperty() emailVerified: boolean;
  @ApiTime() createdAt: string;

  /** Time at which an operator disabled the user. Null if the user is enabled. */
  @ApiTime({ nullable: true }) disabledAt: string | null;

  /** Whether the user is an operator. */
  @ApiProperty() operator: boolean;

  /** Whether two-factor authentication is on. */
  @ApiProperty() secondFactor: boolean;
}

/** The profile is present with `include=profile`. */
export class UserSummary extends IntersectionType(AnyUser, PartialType(ProfileDto)) {}

export class AdminUser extends IntersectionType(AnyUser, ProfileDto) {
  /** Time of the last password change. Null if there was none. */
  @ApiTime({ nullable: true }) passwordChangedAt: string | null;

  /** Time of the last login. Null if there was none. */
  @ApiTime({ nullable: true }) lastLoginAt: string | null;

  /**
   * Failed logins since the last login: wrong passwords, wrong codes, and logins while the user was disabled. They are
   * counted within a few seconds.
   */
  failedLogins: FailedLoginsDto;
}

const LOGIN_LIMITS = ['account', 'login', 'second_factor'] as const;
const COUNTED_BY = ['all', 'instance'] as const;

export class LoginLimit {
  /**
   * The limit: failed logins with the email (`account`), logins with the email from the IP address of the last failed
   * login (`login`), or wrong TOTP codes (`second_factor`).
   */
  @ApiProperty({ enum: LOGIN_LIMITS }) limit: (typeof LOGIN_LIMITS)[number];

  /** Time from which on the next attempt is admitted. */
  @ApiTime() until: string;
}

export class AdminUserDetails extends AdminUser {
  /**
   * Limits that reject logins of the user at this moment. IP addresses of recent logins pass `account`. Limits of other
   * IP addresses are unknown.
   */
  @ApiProperty({ type: [LoginLimit] }) loginLimits: LoginLimit[];

  /**
   * Whose logins `account` and `login` count: those of all instances (`all`), or, without Redis, those of the instance
   * that responds (`instance`).
   */
  @ApiProperty({ enum: COUNTED_BY }) loginLimitsOf: (typeof COUNTED_BY)[number];

  /** Where the user can log in, by the names of the providers. Present with `include=identities`. */
  @ApiProperty({ type: [IdentityDto] }) identities?: IdentityDto[];
}

export class UsersResponse {
  @ApiProperty({ type: [UserSummary], example: [ADA] }) users: UserSummary[];
  @ApiNextCursor('OmFkYUBleGFtcGxlLmNvbQ') nextCursor?: string;
  @ApiComplete('users') complete?: boolean;
}

export class AdminUserResponse {
  @ApiProperty({
    type: AdminUserDetails,
    example: { ...ADA, ...ADAS_PROFILE, ...ADAS_DETAILS, ...UNLIMITED },
  })
  user: AdminUserDetails;
}

export class CreatedUserResponse {
  @ApiProperty({ type: AdminUser, example: NEW_USER }) user: AdminUser;

  /** The code with which the user sets a password. Present if Accounts sends no emails. It is not shown again. */
  @ApiProperty({ pattern: EMAILED_CODE, example: '7K2M9-QX4TB' }) code?: string;

  /** Time at which `code` expires, after 7 days. Present if `code` is. */
  @ApiTime({ example: '2026-11-29T09:00:00.000Z' }) expiresAt?: string;
}

export class UserSessionsResponse {
  @ApiProperty({ type: [SessionSummary], example: [SESSION_EXAMPLE] }) sessions: SessionSummary[];
}

export class UserOrgsResponse {
  @ApiProperty({ type: [OrgMembership], example: [{ ...OWN_ORG, deletedAt: null }] }) orgs: OrgMembership[];
  @ApiNextCursor('MTc5NTIxOTIwMDEyMy4wMTlhOGYzZS02YTJkLTdmMTAtOGIzYy01ZDdlOWYxYTJiM2M') nextCursor?: string;
}

@ApiSchema({ name: 'OrphanedOrg' })
export class OrphanedOrgDto {
  @ApiId() id: string;
  @ApiText(1, 100) name: string;

  /** Whether the organization was deleted, because it had no other member. */
  isDeleted: boolean;
}

export class UserChangeResponse extends OkResponse {
  /** Email of the user whom the change was about. */
  @ApiEmail({ example: 'ada@example.com' }) email: string;
}

export class EndedSessionsResponse extends UserChangeResponse {
  /** Number of sessions that were valid before the change. 0 if nothing changed. */
  @ApiCount({ example: 2 }) sessionsEnded: number;
}

export class ForcedChangeResponse extends EndedSessionsResponse {
  /** Organizations that no longer have an enabled owner. Present if `force` was true. */
  @ApiProperty({ type: [OrphanedOrgDto], example: [ORPHANED] }) orphanedOrgs?: OrphanedOrgDto[];
}

export class ResetCodeResponse {
  /**
   * The reset code for `POST /api/auth/password/reset`. It is not shown again.
   * @example "7K2M9-QX4TB"
   */
  @ApiProperty({ pattern: EMAILED_CODE })
  code: string;

  @ApiTime({ example: '2026-11-22T09:15:00.000Z' }) expiresAt: string;
}
