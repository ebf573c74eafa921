import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import type { Role } from '../access/principal.js';
import { SERVICE_NAME } from '../services/service-secrets.js';
import { MAX_API_KEY_NAME } from '../api-keys/api-keys.repository.js';
import { MAX_DEVICE_NAME } from '../auth/sessions/sessions.requests.js';
import { IdentityDto } from '../auth/providers/providers.responses.js';
import { LoginTraceDto } from '../auth/sessions/sessions.responses.js';
import { MAIL_KINDS, MAIL_STATES, type MailKind, type MailState } from '../mail/mail.entity.js';
import { ApiCount, ApiId, ApiRole, ApiText, ApiTime } from '../openapi/decorators.js';
import {
  INVITATION_STATUSES,
  type InvitationStatus,
  INVITED_ROLES,
  type InvitedRole,
} from '../orgs/state/org.entity.js';
import { OrgDto } from '../orgs/state/orgs.responses.js';
import { OWN_EVENT, OwnEvent } from '../events/events.responses.js';
import { VIA } from './me.responses.js';
import { ProfileDto, UserDto } from '../users/user.fields.js';

export class ExportedAccount extends IntersectionType(UserDto, ProfileDto) {
  @ApiTime() createdAt: string;
  @ApiTime({ nullable: true }) disabledAt: string | null;
  @ApiTime({ nullable: true }) emailVerifiedAt: string | null;
  @ApiTime({ nullable: true }) passwordChangedAt: string | null;
  @ApiTime({ nullable: true }) secondFactorAt: string | null;
  @ApiTime({ nullable: true }) operatorSince: string | null;
}

export class ExportedOrg extends OrgDto {
  @ApiRole() role: Role;
  @ApiTime() joinedAt: string;

  /** Time of the deletion. Present if the organization is deleted and can still be restored. */
  @ApiTime() deletedAt?: string;
}

export class ExportedSecondFactor {
  @ApiTime() enabledAt: string;
  @ApiCount() recoveryCodesLeft: number;
}

export class ExportedApiKey {
  @ApiId() id: string;
  @ApiText(1, MAX_API_KEY_NAME) name: string;
  @ApiProperty({ pattern: SERVICE_NAME.source }) audience: string;
  @ApiRole() role: Role;

  /** Id of the organization that the API key is for. Null if it is the user's own. */
  @ApiId({ nullable: true }) orgId: string | null;
  @ApiTime() createdAt: string;
  @ApiTime() expiresAt: string;
  @ApiTime({ nullable: true }) lastUsedAt: string | null;
}

export class ExportedSession {
  @ApiId() id: string;
  @ApiProperty({ enum: VIA }) via: (typeof VIA)[number];
  @ApiTime() loggedInAt: string;
  @ApiTime() createdAt: string;
  @ApiTime({ nullable: true }) refreshedAt: string | null;
  @ApiTime() expiresAt: string;
  @ApiTime({ nullable: true }) revokedAt: string | null;
  @ApiText(2, 45, { nullable: true }) ip: string | null;
  @ApiText(1, 200, { nullable: true }) userAgent: string | null;
  @ApiText(1, MAX_DEVICE_NAME, { nullable: true }) deviceName: string | null;
}

export class ExportedPlace {
  /** IP network in CIDR notation: /24 of IPv4, /48 of IPv6. */
  @ApiText(7, 49) network: string;

  /** Kind of user agent. */
  @ApiText(1, 40) agent: string;
  @ApiTime() firstSeenAt: string;
  @ApiTime() lastSeenAt: string;
}

export class ExportedEmail {
  @ApiId() id: string;
  @ApiProperty({ enum: MAIL_KINDS, enumName: 'EmailKind' }) kind: MailKind;
  @ApiProperty({ enum: MAIL_STATES, enumName: 'EmailState' }) state: MailState;
  @ApiTime() createdAt: string;
  @ApiTime({ nullable: true }) endedAt: string | null;
}

export class ExportedInvitation {
  @ApiId() id: string;

  org: OrgDto;

  @ApiProperty({ enum: INVITED_ROLES }) role: InvitedRole;
  @ApiProperty({ enum: INVITATION_STATUSES, enumName: 'InvitationStatus' }) status: InvitationStatus;
  @ApiTime() createdAt: string;
  @ApiTime() expiresAt: string;
}

const ACCOUNT: ExportedAccount = {
  id: OWN_EVENT.userId,
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  avatarUrl: null,
  locale: 'en-GB',
  createdAt: '2026-11-22T09:00:00.000Z',
  disabledAt: null,
  emailVerifiedAt: null,
  passwordChangedAt: null,
  secondFactorAt: null,
  operatorSince: null,
};
const LOGIN: ExportedSession = {
  id: OWN_EVENT.sessionId,
  via: 'password',
  loggedInAt: '2026-11-22T09:00:00.000Z',
  createdAt: '2026-11-22T09:00:00.000Z',
  refreshedAt: null,
  expiresAt: '2026-11-23T09:00:00.000Z',
  revokedAt: null,
  ip: OWN_EVENT.ip,
  userAgent: 'Analytical Desktop/1.4 (Linux)',
  deviceName: "Ada's laptop",
};
const PLACE: ExportedPlace = {
  network: '198.51.100.0/24',
  agent: 'Analytical',
  firstSeenAt: '2026-11-22T09:00:00.000Z',
  lastSeenAt: '2026-11-22T09:00:00.000Z',
};
const START = { ...OWN_EVENT, data: { via: 'register' } };
const TRACE: LoginTraceDto = {
  lastLoginAt: '2026-11-22T09:00:00.000Z',
  failedLogins: { count: 0, lastAt: null, lastIp: null },
};
const REGISTRATION = {
  ...OWN_EVENT,
  id: '019a8f3e-9e50-7c43-8e6f-8a0b2c4d5e6f',
  type: 'account.registered',
  userRevision: 1,
  sessionId: null,
  data: {},
};

export class ExportResponse {
  @ApiTime({ example: '2026-11-22T10:00:00.000Z' }) exportedAt: string;
  @ApiProperty({ type: ExportedAccount, example: ACCOUNT }) account: ExportedAccount;

  /** The organizations of the user, deleted ones included as long as they can be restored. */
  @ApiProperty({ type: [ExportedOrg], example: [] }) organizations: ExportedOrg[];

  /** One element if two-factor authentication is on, without the secret. Empty if it is off. */
  @ApiProperty({ type: [ExportedSecondFactor], example: [] }) secondFactor: ExportedSecondFactor[];

  /** Who the user is at providers, by the provider's name. */
  @ApiProperty({ type: [IdentityDto], example: [] }) identities: IdentityDto[];

  /** The API keys that the user made, those of organizations included, latest first. */
  @ApiProperty({ type: [ExportedApiKey], example: [] }) apiKeys: ExportedApiKey[];

  /** The sessions of the user, ended ones included as long as they are kept. */
  @ApiProperty({ type: [ExportedSession], example: [LOGIN] }) sessions: ExportedSession[];

  /** Where the user logged in from within 90 days, latest first. */
  @ApiProperty({ type: [ExportedPlace], example: [PLACE] }) knownPlaces: ExportedPlace[];

  /** When the user last logged in, and failed logins since. Empty if none was noted. */
  @ApiProperty({ type: [LoginTraceDto], example: [TRACE] }) loginTrace: LoginTraceDto[];

  /** Events about the user, latest first. */
  @ApiProperty({ type: [OwnEvent], example: [START, REGISTRATION] }) events: OwnEvent[];

  /** Emails to the user, as long as they are kept, without their texts. */
  @ApiProperty({ type: [ExportedEmail], example: [] }) mails: ExportedEmail[];

  /** Invitations to the email. Empty while the email is not verified. */
  @ApiProperty({ type: [ExportedInvitation], example: [] }) invitations: ExportedInvitation[];
}
