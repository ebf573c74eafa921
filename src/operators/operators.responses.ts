import { ApiProperty, ApiSchema, OmitType } from '@nestjs/swagger';
import { LISTED_OF_ORG, OrgApiKeyDto } from '../api-keys/api-keys.responses.js';
import { MemberDto, MEMBERS_EXAMPLE } from '../orgs/members/members.responses.js';
import { OrgDto } from '../orgs/state/orgs.responses.js';
import { SERVICE_NAME } from '../services/service-secrets.js';
import { SERVICE_SCOPES, type ServiceScope } from '../access/principal.js';
import { MAIL_KINDS, MAIL_STATES, type MailKind, type MailState } from '../mail/mail.entity.js';
import { AuditEvent, EventsPage, ORG_EVENT, OWN_EVENT } from '../events/events.responses.js';
import {
  ApiComplete,
  ApiCount,
  ApiEmail,
  ApiId,
  ApiNextCursor,
  ApiText,
  ApiTime,
} from '../openapi/decorators.js';
import { Readiness, type State, STATES } from '../health/health.responses.js';

const ANALYTICAL_ENGINES = {
  id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c',
  name: 'Analytical Engines',
  createdAt: '2026-11-22T09:00:00.000Z',
  deletedAt: null,
  purgeAt: null,
};

@ApiSchema({ name: 'OrgSummary' })
export class OrgSummaryDto extends OrgDto {
  @ApiTime() createdAt: string;

  /** Time of the deletion. Null if the organization is not deleted. */
  @ApiTime({ nullable: true }) deletedAt: string | null;

  /** End of the time in which a deleted organization can be restored. Null if it is not deleted. */
  @ApiTime({ nullable: true }) purgeAt: string | null;
}

export class MemberCounts {
  @ApiCount() owner: number;
  @ApiCount() admin: number;
  @ApiCount() member: number;
}

export class AdminOrg extends OrgSummaryDto {
  /** Number of members with each role. */
  counts: MemberCounts;
}

export class OrgsResponse {
  @ApiProperty({ type: [OrgSummaryDto], example: [ANALYTICAL_ENGINES] }) orgs: OrgSummaryDto[];

  @ApiNextCursor('MDE5YThmM2UtNmEyZC03ZjEwLThiM2MtNWQ3ZTlmMWEyYjNjL0FuYWx5dGljYWwgRW5naW5lcw')
  nextCursor?: string;

  @ApiComplete('organizations') complete?: boolean;
}

export class AdminOrgResponse {
  @ApiProperty({
    type: AdminOrg,
    example: { ...ANALYTICAL_ENGINES, counts: { owner: 1, admin: 0, member: 2 } },
  })
  org: AdminOrg;
}

export class AdminMember extends OmitType(MemberDto, ['profile']) {
  /** Whether the user is disabled. */
  @ApiProperty() disabled: boolean;
}

export class OrgMembersResponse {
  @ApiProperty({
    type: [AdminMember],
    example: MEMBERS_EXAMPLE.map((one) => Object.assign({ disabled: false }, one)),
  })
  members: AdminMember[];

  @ApiNextCursor('OmdyYWNlQGV4YW1wbGUuY29t') nextCursor?: string;
}

const BILLING = {
  name: 'billing',
  allow: ['introspect'],
  createdAt: '2026-11-22T09:00:00.000Z',
  disabledAt: null,
  removedAt: null,
};
const SECRET = {
  id: '019a8f3e-c183-7f76-9192-1d3e5f708192',
  createdAt: '2026-11-22T09:00:00.000Z',
  lastUsedAt: null,
  revokedAt: null,
};

const SERVICE_ITEM = { type: 'string', pattern: SERVICE_NAME.source } as const;

export class ServiceSummary {
  @ApiProperty({ pattern: SERVICE_NAME.source })
  name: string;

  /** Scopes that the service is allowed. */
  @ApiProperty({ enum: SERVICE_SCOPES, enumName: 'ServiceScope', isArray: true }) allow: ServiceScope[];
  @ApiTime() createdAt: string;

  /** Time at which an operator disabled the service. Null if it is enabled. */
  @ApiTime({ nullable: true }) disabledAt: string | null;

  /** Time of the removal. Null if the service was not removed. Names of removed services are never used again. */
  @ApiTime({ nullable: true }) removedAt: string | null;
}

export class SecretSummary {
  @ApiId() id: string;
  @ApiTime() createdAt: string;

  /** Beginning of the hour in which the secret was last used. Null if it was never used. */
  @ApiTime({ nullable: true }) lastUsedAt: string | null;

  /** Time of the revocation. Null if the secret is valid. */
  @ApiTime({ nullable: true }) revokedAt: string | null;
}

export class AdminService extends ServiceSummary {
  /** Names of the services that it may call, without removed ones. */
  @ApiProperty({ type: 'array', items: SERVICE_ITEM, example: ['ledger'] }) calls: string[];

  /** Names of the services that may call it, without removed ones. */
  @ApiProperty({ type: 'array', items: SERVICE_ITEM, example: [] }) calledBy: string[];

  /** Secrets of the service, oldest first, revoked ones included. */
  @ApiProperty({ type: [SecretSummary] }) secrets: SecretSummary[];
}

export class ServicesResponse {
  @ApiProperty({ type: [ServiceSummary], example: [BILLING] }) services: ServiceSummary[];
  @ApiNextCursor('OmJpbGxpbmc') nextCursor?: string;
}

export class AdminServiceResponse {
  @ApiProperty({
    type: AdminService,
    example: { ...BILLING, calls: ['ledger'], calledBy: [], secrets: [SECRET] },
  })
  service: AdminService;
}

export class AdminApiKey extends OrgApiKeyDto {
  /** Id of the organization that the API key belongs to. Null if it is an own one of its user. */
  @ApiId({ nullable: true, example: null }) orgId: string | null;
}

export class AdminApiKeysResponse {
  /** API keys of this page. */
  @ApiProperty({ type: [AdminApiKey], example: [{ ...LISTED_OF_ORG, orgId: null }] })
  apiKeys: AdminApiKey[];

  @ApiNextCursor('MC4wMTlhOGYzZS05ZTVhLTdjNDMtOGU2Zi04YTBiMmM0ZDVlNmY') nextCursor?: string;
}

const RESET_MAIL = {
  id: '019a8f3e-b072-7e65-8081-0c2d4e6f7081',
  kind: 'password_reset',
  recipient: 'ada@example.com',
  state: 'failed',
  attempts: 1,
  createdAt: '2026-11-22T09:00:00.000Z',
  nextAttemptAt: null,
  expiresAt: '2026-11-22T09:15:00.000Z',
  endedAt: '2026-11-22T09:00:01.000Z',
  lastError: 'EENVELOPE 550',
};

export class EmailSummary {
  @ApiId() id: string;
  @ApiProperty({ enum: MAIL_KINDS, enumName: 'EmailKind' }) kind: MailKind;
  @ApiEmail() recipient: string;
  @ApiProperty({ enum: MAIL_STATES, enumName: 'EmailState' }) state: MailState;

  /** Number of attempts to send the email, the current one included. */
  @ApiCount() attempts: number;
  @ApiTime() createdAt: string;

  /** Time of the next attempt. Null if the email does not wait. */
  @ApiTime({ nullable: true }) nextAttemptAt: string | null;

  /** Time after which the email is not sent, because its code has expired. Null if it has no code. */
  @ApiTime({ nullable: true }) expiresAt: string | null;

  /** Time at which the email was sent, failed or was dropped. Null if it waits. */
  @ApiTime({ nullable: true }) endedAt: string | null;

  /** Codes of the last failure. Null if there was none. */
  @ApiText(1, 100, { nullable: true }) lastError: string | null;
}

export class EmailsResponse {
  @ApiProperty({ type: [EmailSummary], example: [RESET_MAIL] }) mails: EmailSummary[];
  @ApiNextCursor('MC4wMTlhOGYzZS1iMDcyLTdlNjUtODA4MS0wYzJkNGU2ZjcwODE') nextCursor?: string;
}

const MEMBER_ADDED = {
  ...OWN_EVENT,
  ...ORG_EVENT,
  actor: { ...ORG_EVENT.actor, sessionId: OWN_EVENT.sessionId, email: null },
  sessionId: null,
  reason: null,
};

export class AuditEventsResponse extends EventsPage {
  @ApiProperty({ type: [AuditEvent], example: [MEMBER_ADDED] }) events: AuditEvent[];
}

const ENGINES = ['sqlite', 'mysql', 'mariadb'] as const;
const KEY_STATES = ['signing', 'next', 'verifying'] as const;
const SCHEMA_STATES = ['current', 'newer'] as const;

export class EngineStatus {
  @ApiProperty({ enum: ENGINES, example: 'sqlite' }) name: (typeof ENGINES)[number];
  @ApiText(1, undefined, { example: '3.53.0' }) version: string;
}

export class SchemaStatus {
  /** The last migration of this version. */
  @ApiText(1, undefined, { example: 'CreateSchema1795219200000' }) migration: string;

  /** Value `newer` if an instance of a newer version has migrated the database further. */
  @ApiProperty({ enum: SCHEMA_STATES, example: 'current' }) state: (typeof SCHEMA_STATES)[number];
}

export class KeyStatus {
  @ApiText(1) kid: string;

  /** State of the key: it signs now (`signing`), will sign (`next`), or only verifies (`verifying`). */
  @ApiProperty({ enum: KEY_STATES }) state: (typeof KEY_STATES)[number];

  /** Time from which on the key signs. Null if the key file does not say. */
  @ApiTime({ nullable: true }) signsFrom: string | null;

  /** Time after which no instance signs with the key. Null if the key signs now or will sign. */
  @ApiTime({ nullable: true }) signedUntil: string | null;
}

const KEY: KeyStatus = {
  kid: 'y1Qm8rJ0vJc0mYw3mQ9yq9l0Zc1o1m1b5rj3JtQ9g2E',
  state: 'signing',
  signsFrom: null,
  signedUntil: null,
};

export class EmailsStatus {
  @ApiCount({ example: 0 }) waiting: number;
  @ApiCount({ example: 0 }) failed: number;
}

export class ServiceStatus extends OmitType(Readiness, ['keys']) {
  @ApiText(1, undefined, { example: '0.4.0' }) version: string;

  engine: EngineStatus;

  schema: SchemaStatus;

  /** Signing keys of the instance that responds, in the order of the key file. */
  @ApiProperty({ type: [KeyStatus], example: [KEY] }) keys: KeyStatus[];

  /** Value `degraded` if running instances have had different signing keys for more than two minutes. */
  @ApiProperty({ enum: STATES, example: 'ok' }) keySets: State;

  /** Emails in the queue. */
  mails: EmailsStatus;
}
