// Made from docs/openapi.json by `npm run client:types`. Do not edit.

import type { At, Route } from './operation.ts';

export type AcceptedResponse = {
  role: Role;
  org: Org;
};

/** the account was deleted */
export type AccountDeletedEvent = {
  id: string;
  at: string;
  type: "account.deleted";
  orgId: string | null;
  orgRevision: number | null;
  userId: string;
  userRevision: number;
  sessionId: string | null;
  data: {
    force?: true;
  };
  actor: FeedEventActor;
};

/** an operator disabled the account */
export type AccountDisabledEvent = {
  id: string;
  at: string;
  type: "account.disabled";
  orgId: string | null;
  orgRevision: number | null;
  userId: string;
  userRevision: number;
  sessionId: string | null;
  data: {
    force?: true;
  };
  actor: FeedEventActor;
};

export type AccountDisabledProblem = Problem & {
  code: "account_disabled";
};

/** the e-mail was changed; `verified` tells whether the operator who changed it vouches for it, and without it a mailed code has verified it */
export type AccountEmailChangedEvent = {
  id: string;
  at: string;
  type: "account.email_changed";
  orgId: string | null;
  orgRevision: number | null;
  userId: string;
  userRevision: number;
  sessionId: string | null;
  data: {
    verified?: boolean;
  };
  actor: FeedEventActor;
};

/** the e-mail was verified */
export type AccountEmailVerifiedEvent = {
  id: string;
  at: string;
  type: "account.email_verified";
  orgId: string | null;
  orgRevision: number | null;
  userId: string;
  userRevision: number;
  sessionId: string | null;
  data: {
    
  };
  actor: FeedEventActor;
};

/** an operator enabled the account again */
export type AccountEnabledEvent = {
  id: string;
  at: string;
  type: "account.enabled";
  orgId: string | null;
  orgRevision: number | null;
  userId: string;
  userRevision: number;
  sessionId: string | null;
  data: {
    
  };
  actor: FeedEventActor;
};

/** the password was changed */
export type AccountPasswordChangedEvent = {
  id: string;
  at: string;
  type: "account.password_changed";
  orgId: string | null;
  orgRevision: number | null;
  userId: string;
  userRevision: number;
  sessionId: string | null;
  data: {
    
  };
  actor: FeedEventActor;
};

/** a user registered, or an operator imported them */
export type AccountRegisteredEvent = {
  id: string;
  at: string;
  type: "account.registered";
  orgId: string | null;
  orgRevision: number | null;
  userId: string;
  userRevision: number;
  sessionId: string | null;
  data: {
    via?: "import";
  };
  actor: FeedEventActor;
};

export type AccountResponse = {
  emailVerified: boolean;
  createdAt: string;
  /** time of the last change of the password; null if there was none */
  passwordChangedAt: string | null;
  user: User;
};

export type ActorType = "user" | "operator" | "system";

export type AddMemberRequest = {
  /** email of an existing account */
  email: string;
  role: "member" | "admin";
};

export type AddOrgOwnerRequest = {
  /** why, for the record; only operators read it */
  reason: string;
  /** the user who becomes an owner */
  userId: string;
  /** whether to add somebody who is no member; by default they are refused */
  force?: boolean | undefined;
};

export type AdminOrg = {
  id: string;
  name: string;
  createdAt: string;
  /** null if the organization is not deleted */
  deletedAt: string | null;
  /** end of the time in which a deleted organization can be restored */
  purgeAt: string | null;
  /** members with each role */
  counts: MemberCounts;
};

export type AdminOrgResponse = {
  org: AdminOrg;
};

export type AdminService = {
  name: string;
  /** scopes that the service is allowed */
  allow: ServiceScope[];
  createdAt: string;
  /** null if the service is enabled */
  disabledAt: string | null;
  /** null if the service was not removed; names of removed ones are never used again */
  removedAt: string | null;
  /** oldest first, revoked ones too */
  secrets: SecretSummary[];
};

export type AdminServiceResponse = {
  service: AdminService;
};

export type AdminUser = {
  id: string;
  email: string;
  emailVerified: boolean;
  createdAt: string;
  /** null if the account is enabled */
  disabledAt: string | null;
  /** whether a shell has granted the user the routes of operators */
  operator: boolean;
  /** whether a login needs a second factor */
  secondFactor: boolean;
  /** time of the last change of the password; null if there was none */
  passwordChangedAt: string | null;
};

export type AdminUserResponse = {
  user: AdminUser;
};

export type AlreadyInvitedProblem = Problem & {
  code: "already_invited";
  /** invitation that could be resent; present with `?remedy=true` */
  remedy?: {
    action: "resend";
    invitationId: string;
  };
};

export type AlreadyMemberProblem = Problem & {
  code: "already_member";
};

export type AnswerInvitationByCodeRequest = {
  /** The code of the invitation. Case, spaces and hyphens make no difference. */
  code: string;
};

export type AnswerInvitationRequest = {
  /** The code of the invitation. Required while the email is not verified. Case, spaces and hyphens make no difference. */
  code?: string | undefined;
};

export type AudienceRequiredProblem = Problem & {
  code: "audience_required";
};

export type AuditEvent = {
  id: string;
  type: EventType;
  at: string;
  orgId: string | null;
  /** revision of the organization after the change, by which its events are ordered; numbers may be skipped */
  orgRevision: number | null;
  /** user whom the event is about */
  userId: string | null;
  /** details of the change, which depend on the type of the event */
  data: Record<string, (string | number | boolean)>;
  /** revision of the account after the change */
  userRevision: number | null;
  /** session that the event is about */
  sessionId: string | null;
  requestId: string | null;
  /** client IP address; null if there was none, or it was deleted after 90 days */
  ip: string | null;
  /** words of the operator who acted */
  reason: string | null;
  actor: AuditEventActor;
};

export type AuditEventActor = {
  type: ActorType;
  /** id of the user, or name of the operator; null for the service itself */
  id: string | null;
  /** session that acted; null if it is unknown */
  sessionId: string | null;
};

export type AuditEventsResponse = {
  /** `cursor` of the next page; absent on the last page. A page can be shorter than `limit`, or empty, although a next page exists. */
  nextCursor?: string;
  events: AuditEvent[];
};

/** methods by which the session is authenticated now (RFC 8176) */
export type AuthenticationMethod = "pwd" | "otp";

export type BadRequestProblem = Problem & {
  code: "bad_request";
};

export type BodyTooLargeProblem = Problem & {
  code: "body_too_large";
};

export type ChangeEmailRequest = {
  /** The new email. */
  email: string;
  /** The current password. */
  password: string;
  /** A code of the second factor, required where the account has one: six digits of the app, or a recovery code. */
  code?: string | undefined;
};

export type ChangeMemberRoleRequest = {
  role: Role;
};

export type ChangePasswordRequest = {
  currentPassword: string;
  /** The new password, under the rules of registration. */
  newPassword: string;
  /** A code of the second factor, required where the account has one: six digits of the app, or a recovery code. */
  code?: string | undefined;
};

export type ChangeSecondFactorRequest = {
  password: string;
  /** The six digits that the authenticator app shows, or a recovery code. Case, spaces and hyphens make no difference. */
  code: string;
};

export type CodeResponse = {
  /** one-time code, valid for 60 seconds unless configured otherwise */
  code: string;
  /** Time at which the code expires. Present if the request had `audience`. */
  expiresAt?: string;
  /** Name of the one service that can exchange the code. Present if the request had `audience`; else discard the code. */
  audience?: string;
};

export type CompleteLoginRequest = {
  /** The challenge that the right password got, within 5 minutes. */
  challenge: string;
  /** The six digits that the authenticator app shows, or a recovery code. Case, spaces and hyphens make no difference. */
  code: string;
  /** Requests a refresh token. Access tokens are then valid for 15 minutes unless configured otherwise. */
  refresh?: boolean | undefined;
  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. */
  deviceName?: string | undefined;
};

export type ConfirmSecondFactorRequest = {
  /** The six digits that the authenticator app shows. Spaces make no difference. */
  code: string;
};

export type CreateInvitationRequest = {
  /** Returns the code in the answer, only this once, instead of mailing it, so that you can hand it over yourself. */
  showCode?: boolean | undefined;
  /** email to invite, with or without an account */
  email: string;
  role: "member" | "admin";
};

export type CreateOrgRequest = {
  /** 1 to 100 characters after trimming; names need not be unique */
  name: string;
};

export type CurrentUser = {
  id: string;
  email: string;
  /** present with `include=account` */
  emailVerified?: boolean;
};

export type CurrentUserResponse = {
  user: CurrentUser;
  orgs: OrgOfMe[];
};

export type CursorExpiredProblem = Problem & {
  code: "cursor_expired";
};

export type DeleteAccountRequest = {
  password: string;
  /** A code of the second factor, required where the account has one: six digits of the app, or a recovery code. */
  code?: string | undefined;
};

export type DeletedOrg = {
  id: string;
  name: string;
  deletedAt: string;
  /** end of the time in which an owner can restore the organization */
  purgeAt: string;
};

export type DeletedOrgsResponse = {
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
  orgs: DeletedOrg[];
};

export type EmailNotVerifiedProblem = Problem & {
  code: "email_not_verified";
};

export type EmailSummary = {
  id: string;
  kind: MailKind;
  recipient: string;
  state: MailState;
  /** attempts to send the mail, the current one included */
  attempts: number;
  createdAt: string;
  /** null if the mail does not wait */
  nextAttemptAt: string | null;
  /** time after which the mail is not sent, since its code is void; null if it holds none */
  expiresAt: string | null;
  /** null if the mail waits */
  endedAt: string | null;
  /** codes of the last failure; null if there was none */
  lastError: string | null;
};

export type EmailTakenProblem = Problem & {
  code: "email_taken";
};

export type EmailsResponse = {
  mails: EmailSummary[];
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
};

export type EmailsStatus = {
  waiting: number;
  failed: number;
};

export type EngineStatus = {
  name: "sqlite" | "mysql" | "mariadb";
  version: string;
};

export type EnrollSecondFactorRequest = {
  password: string;
};

export type EnrollmentResponse = {
  /** the secret in base32, to type into an authenticator app */
  secret: string;
  /** the same with the names of account and service, to show as a QR code */
  uri: string;
};

export type EventActor = {
  type: ActorType;
  /** id of the user, or name of the operator; null for the service itself */
  id: string | null;
};

export type EventType = "account.registered" | "account.password_changed" | "account.email_verified" | "account.email_changed" | "account.reset_code_issued" | "account.second_factor_enabled" | "account.second_factor_removed" | "account.recovery_codes_renewed" | "account.recovery_code_used" | "account.operator_granted" | "account.operator_revoked" | "account.disabled" | "account.enabled" | "account.deleted" | "session.started" | "session.ended" | "org.created" | "org.renamed" | "org.deleted" | "org.restored" | "org.purged" | "org.orphaned" | "member.added" | "member.role_changed" | "member.removed" | "invitation.created" | "invitation.resent" | "invitation.revoked" | "invitation.accepted" | "invitation.declined" | "keys.rotated" | "keys.pruned" | "service.created" | "service.allowed" | "service.secret_added" | "service.secret_revoked" | "service.sessions_ended" | "service.disabled" | "service.enabled" | "service.removed" | "mail.retried";

export type ExchangeCodeRequest = {
  code: string;
  /** The verifier (RFC 7636 section 4.1). Required if the code was issued with a challenge. */
  codeVerifier?: string | undefined;
};

export type ExportResponse = {
  exportedAt: string;
  account: ExportedAccount;
  /** includes deleted ones, as long as they can be restored */
  organizations: ExportedOrg[];
  /** has one element if it is enabled, without its secret */
  secondFactor: ExportedSecondFactor[];
  /** includes ended ones, as long as they are kept */
  sessions: ExportedSession[];
  /** latest first */
  events: OwnEvent[];
  /** emails to the email of the account, as long as they are kept, without their texts */
  mails: ExportedEmail[];
  /** none while the email is not verified, since it may be another person's */
  invitations: ExportedInvitation[];
};

export type ExportedAccount = {
  id: string;
  email: string;
  createdAt: string;
  disabledAt: string | null;
  emailVerifiedAt: string | null;
  passwordChangedAt: string | null;
  secondFactorAt: string | null;
  operatorSince: string | null;
};

export type ExportedEmail = {
  id: string;
  kind: MailKind;
  state: MailState;
  createdAt: string;
  endedAt: string | null;
};

export type ExportedInvitation = {
  id: string;
  role: "member" | "admin";
  status: InvitationStatus;
  createdAt: string;
  expiresAt: string;
  org: Org;
};

export type ExportedOrg = {
  id: string;
  name: string;
  role: Role;
  joinedAt: string;
  /** present if the organization is deleted and can still be restored */
  deletedAt?: string;
};

export type ExportedSecondFactor = {
  enabledAt: string;
  recoveryCodesLeft: number;
};

export type ExportedSession = {
  id: string;
  via: "password" | "code";
  loggedInAt: string;
  createdAt: string;
  refreshedAt: string | null;
  expiresAt: string;
  revokedAt: string | null;
  ip: string | null;
  userAgent: string | null;
  deviceName: string | null;
};

export type FeedEventActor = {
  type: ActorType;
  /** id of the user; null for an operator and for the service itself */
  id: string | null;
};

export type FeedResponse = {
  events: (AccountRegisteredEvent | AccountPasswordChangedEvent | AccountEmailVerifiedEvent | AccountEmailChangedEvent | AccountDisabledEvent | AccountEnabledEvent | AccountDeletedEvent | SessionStartedEvent | SessionEndedEvent | OrgCreatedEvent | OrgRenamedEvent | OrgDeletedEvent | OrgRestoredEvent | OrgPurgedEvent | OrgOrphanedEvent | MemberAddedEvent | MemberRoleChangedEvent | MemberRemovedEvent | InvitationCreatedEvent | InvitationResentEvent | InvitationRevokedEvent | InvitationAcceptedEvent | InvitationDeclinedEvent | ServiceCreatedEvent | ServiceAllowedEvent | ServiceSecretAddedEvent | ServiceSecretRevokedEvent | ServiceSessionsEndedEvent | ServiceDisabledEvent | ServiceEnabledEvent | ServiceRemovedEvent)[];
  /** `after` of the next request */
  next: string;
};

export type FieldError = {
  field: string;
  message: string;
};

export type ForcedChangeResponse = {
  ok: true;
  /** organizations that have no enabled owner any more; present if `force` was true */
  orphanedOrgs?: OrphanedOrg[];
};

export type IdempotencyKeyReusedProblem = Problem & {
  code: "idempotency_key_reused";
};

export type InsufficientRoleProblem = Problem & {
  code: "insufficient_role";
  requiredRole: Role;
  yourRole: Role;
};

export type InsufficientScopeProblem = Problem & {
  code: "insufficient_scope";
  /** the scope that the service would need; absent if a token was refused */
  requiredScope?: "introspect" | "memberships" | "events";
};

export type InsufficientUserAuthenticationProblem = Problem & {
  code: "insufficient_user_authentication";
};

export type InternalErrorProblem = Problem & {
  code: "internal_error";
};

export type IntrospectTokenRequest = {
  /** token to ask about */
  token: string;
  /** organization in which to look up the user's role */
  orgId?: string | undefined;
  /** ignored: there is one kind of token that can be active */
  token_type_hint?: string | undefined;
};

export type IntrospectionResponse = {
  /** Whether the access token is valid now. */
  active: boolean;
  token_type?: "Bearer";
  /** issuer */
  iss?: string;
  /** audience: a service, or this one and every service that accepts its tokens */
  aud?: string;
  /** id of the user */
  sub?: string;
  /** id of the session */
  sid?: string;
  /** id of the token */
  jti?: string;
  /** issue of the token, in seconds since 1970 */
  iat?: number;
  /** expiry, in seconds since 1970 */
  exp?: number;
  /** login, in seconds since 1970 */
  auth_time?: number;
  /** methods by which the session is authenticated now (RFC 8176) */
  amr?: AuthenticationMethod[];
  /** state of the user's sessions, raised when all of them end */
  epoch?: number;
  /** service that the token is bound to, else the audience */
  client_id?: string;
  /** email of the user */
  username?: string;
  email_verified?: boolean;
  /** present with `orgId`; null if the user is no member, or the organization is unknown or deleted */
  org?: {
    id: string;
    role: Role;
    /** state of the organization, raised by each change */
    revision: number;
  } | null;
};

export type InvalidChallengeProblem = Problem & {
  code: "invalid_challenge";
};

export type InvalidClientProblem = Problem & {
  code: "invalid_client";
};

export type InvalidCodeProblem = Problem & {
  code: "invalid_code";
};

export type InvalidCredentialsProblem = Problem & {
  code: "invalid_credentials";
};

export type InvalidEmailCodeProblem = Problem & {
  code: "invalid_email_code";
};

export type InvalidInvitationCodeProblem = Problem & {
  code: "invalid_invitation_code";
};

export type InvalidRefreshTokenProblem = Problem & {
  code: "invalid_refresh_token";
};

export type InvalidSecondFactorCodeProblem = Problem & {
  code: "invalid_second_factor_code";
};

export type InvalidTokenProblem = Problem & {
  code: "invalid_token";
};

export type Invitation = {
  id: string;
  role: "member" | "admin";
  status: InvitationStatus;
  createdAt: string;
  /** seven days after the current code was created */
  expiresAt: string;
  /** the user who created or last resent the invitation */
  invitedBy: Inviter;
  email: string;
  /** present if the request had `showCode`; never returned again */
  code?: string;
};

/** a user accepted an invitation */
export type InvitationAcceptedEvent = {
  id: string;
  at: string;
  type: "invitation.accepted";
  orgId: string;
  orgRevision: number;
  userId: string;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    invitationId: string;
    role: Role;
  };
  actor: FeedEventActor;
};

/** somebody was invited */
export type InvitationCreatedEvent = {
  id: string;
  at: string;
  type: "invitation.created";
  orgId: string;
  orgRevision: number;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    invitationId: string;
    role: Role;
  };
  actor: FeedEventActor;
};

/** a user declined an invitation */
export type InvitationDeclinedEvent = {
  id: string;
  at: string;
  type: "invitation.declined";
  orgId: string;
  orgRevision: number;
  userId: string;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    invitationId: string;
    role: Role;
  };
  actor: FeedEventActor;
};

export type InvitationEndedProblem = Problem & {
  code: "invitation_ended";
};

export type InvitationNotFoundProblem = Problem & {
  code: "invitation_not_found";
};

/** an invitation has a new code, and a new end */
export type InvitationResentEvent = {
  id: string;
  at: string;
  type: "invitation.resent";
  orgId: string;
  orgRevision: number;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    invitationId: string;
    role: Role;
  };
  actor: FeedEventActor;
};

export type InvitationResponse = {
  invitation: Invitation;
};

/** an invitation was revoked */
export type InvitationRevokedEvent = {
  id: string;
  at: string;
  type: "invitation.revoked";
  orgId: string;
  orgRevision: number;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    invitationId: string;
    role: Role;
    reason: "revoked" | "member_added" | "inviter_removed" | "inviter_left" | "inviter_demoted" | "inviter_disabled" | "inviter_deleted" | "org_deleted";
  };
  actor: FeedEventActor;
};

export type InvitationStatus = "pending" | "accepted" | "declined" | "revoked" | "expired";

export type InvitationSummary = {
  id: string;
  role: "member" | "admin";
  status: InvitationStatus;
  createdAt: string;
  /** seven days after the current code was created */
  expiresAt: string;
  /** the user who created or last resent the invitation */
  invitedBy: Inviter;
  email: string;
};

export type InvitationsResponse = {
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
  invitations: InvitationSummary[];
};

export type Inviter = {
  userId: string;
  /** null if the account was deleted */
  email: string | null;
};

export type IssueCodeRequest = {
  /** base64url of the SHA-256 of the verifier */
  codeChallenge?: string | undefined;
  /** name of the one service that may exchange the code */
  audience?: string | undefined;
  codeChallengeMethod?: "S256" | undefined;
};

export type KeySet = {
  keys: PublicKey[];
};

export type KeyStatus = {
  kid: string;
  /** `verifying` if the key signs no longer */
  state: "signing" | "next" | "verifying";
  /** time from which on the key signs; null if the key file does not say */
  signsFrom: string | null;
  /** time after which nobody signs with the key; null for the one that signs and those that will */
  signedUntil: string | null;
};

export type LastOwnerProblem = Problem & {
  code: "last_owner";
  /** at most 100 of the organizations that the user is the only owner of; present if an account was to be deleted */
  orgs?: {
    id: string;
    name: string;
    /** whether the organization has a member who could become owner */
    hasOtherMembers: boolean;
  }[];
  /** members who could be made owner; present with `?remedy=true` */
  remedy?: {
    action: "transfer";
    /** organization of the candidates; present if an account was to be deleted */
    orgId?: string;
    candidates: Member[];
  };
};

export type Liveness = {
  status: "ok";
};

export type LoginRequest = {
  email: string;
  password: string;
  /** Requests a refresh token. Access tokens are then valid for 15 minutes unless configured otherwise. */
  refresh?: boolean | undefined;
  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. */
  deviceName?: string | undefined;
};

export type LoginResponse = {
  /** access token (JWT), sent as `Authorization: Bearer <token>` */
  token: string;
  /** Time at which the access token expires. Present if the request had `refresh`. */
  expiresAt?: string;
  /** Present if the request had `refresh`. */
  refreshToken?: string;
  user: User;
};

export type LogoutRequest = {
  /** Names the session to end, in place of an access token. */
  refreshToken?: string | undefined;
};

export type MailEndedProblem = Problem & {
  code: "mail_ended";
};

export type MailKind = "password_reset" | "password_changed" | "reset_code_issued" | "second_factor_enabled" | "second_factor_removed" | "second_factor_guessed" | "recovery_codes_renewed" | "recovery_code_used" | "email_verification" | "email_change" | "email_change_asked" | "email_changed" | "invitation";

export type MailNotFoundProblem = Problem & {
  code: "mail_not_found";
};

export type MailObsoleteProblem = Problem & {
  code: "mail_obsolete";
};

export type MailState = "waiting" | "sent" | "failed" | "dropped";

export type MailUnavailableProblem = Problem & {
  code: "mail_unavailable";
};

export type MalformedJsonProblem = Problem & {
  code: "malformed_json";
};

export type Member = {
  userId: string;
  role: Role;
  email: string;
};

/** a user became a member */
export type MemberAddedEvent = {
  id: string;
  at: string;
  type: "member.added";
  orgId: string;
  orgRevision: number;
  userId: string;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    role: Role;
    via: "created" | "added" | "invitation";
    force?: true;
  };
  actor: FeedEventActor;
};

export type MemberCounts = {
  owner: number;
  admin: number;
  member: number;
};

export type MemberDetail = {
  userId: string;
  role: Role;
  email: string;
  joinedAt: string;
};

export type MemberDetailResponse = {
  member: MemberDetail;
};

export type MemberDisabledProblem = Problem & {
  code: "member_disabled";
};

export type MemberNotFoundProblem = Problem & {
  code: "member_not_found";
};

/** a user is no member any more */
export type MemberRemovedEvent = {
  id: string;
  at: string;
  type: "member.removed";
  orgId: string;
  orgRevision: number;
  userId: string;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    role: Role;
    reason: "removed" | "left" | "account_deleted";
  };
  actor: FeedEventActor;
};

export type MemberRole = {
  userId: string;
  role: Role;
};

/** a member has another role */
export type MemberRoleChangedEvent = {
  id: string;
  at: string;
  type: "member.role_changed";
  orgId: string;
  orgRevision: number;
  userId: string;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    from: Role;
    to: Role;
  };
  actor: FeedEventActor;
};

export type MemberRoleResponse = {
  member: MemberRole;
};

export type MembersResponse = {
  members: Member[];
  /** `cursor` of the next page; absent on the last page and from the whole list */
  nextCursor?: string;
};

export type Membership = {
  orgId: string;
  userId: string;
  role: Role;
  /** state of the organization, raised by each change */
  orgRevision: number;
};

export type MembershipsResponse = {
  memberships: Membership[];
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
};

export type NotAMemberProblem = Problem & {
  code: "not_a_member";
};

export type NotFoundProblem = Problem & {
  code: "not_found";
};

export type OkResponse = {
  ok: true;
};

export type OperatorProtectedProblem = Problem & {
  code: "operator_protected";
};

export type OperatorRequiredProblem = Problem & {
  code: "operator_required";
};

export type Org = {
  id: string;
  name: string;
};

/** an organization was created */
export type OrgCreatedEvent = {
  id: string;
  at: string;
  type: "org.created";
  orgId: string;
  orgRevision: number;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    
  };
  actor: FeedEventActor;
};

/** an organization was deleted; it can be restored for a time */
export type OrgDeletedEvent = {
  id: string;
  at: string;
  type: "org.deleted";
  orgId: string;
  orgRevision: number;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    force?: true;
  };
  actor: FeedEventActor;
};

export type OrgDeletionResponse = {
  ok: true;
  /** end of the time in which an owner can restore the organization */
  purgeAt: string;
};

export type OrgDetail = {
  id: string;
  name: string;
  members: Member[];
};

export type OrgDetailResponse = {
  org: OrgDetail;
};

export type OrgEvent = {
  id: string;
  type: EventType;
  at: string;
  orgId: string | null;
  /** revision of the organization after the change, by which its events are ordered; numbers may be skipped */
  orgRevision: number | null;
  /** user whom the event is about */
  userId: string | null;
  /** details of the change, which depend on the type of the event */
  data: Record<string, (string | number | boolean)>;
  actor: EventActor;
};

export type OrgEventsResponse = {
  /** `cursor` of the next page; absent on the last page. A page can be shorter than `limit`, or empty, although a next page exists. */
  nextCursor?: string;
  events: OrgEvent[];
};

export type OrgMembersResponse = {
  members: Member[];
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
};

export type OrgMembership = {
  id: string;
  name: string;
  role: Role;
  joinedAt: string;
};

export type OrgMembershipsResponse = {
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
  orgs: OrgMembership[];
};

export type OrgNotFoundProblem = Problem & {
  code: "org_not_found";
};

export type OrgOfAccount = {
  id: string;
  name: string;
  role: Role;
  joinedAt: string;
  /** null if the organization is not deleted */
  deletedAt: string | null;
};

export type OrgOfMe = {
  id: string;
  name: string;
  /** present with `include=roles` */
  role?: Role;
};

/** an operator disabled or deleted the last owner who could act */
export type OrgOrphanedEvent = {
  id: string;
  at: string;
  type: "org.orphaned";
  orgId: string;
  orgRevision: number;
  userId: string;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    reason: "owner_disabled" | "owner_deleted";
    force: true;
  };
  actor: FeedEventActor;
};

/** the rest of a deleted organization was deleted */
export type OrgPurgedEvent = {
  id: string;
  at: string;
  type: "org.purged";
  orgId: string;
  orgRevision: number;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    
  };
  actor: FeedEventActor;
};

/** an organization was renamed */
export type OrgRenamedEvent = {
  id: string;
  at: string;
  type: "org.renamed";
  orgId: string;
  orgRevision: number;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    
  };
  actor: FeedEventActor;
};

export type OrgResponse = {
  org: Org;
};

/** a deleted organization was restored, with its members */
export type OrgRestoredEvent = {
  id: string;
  at: string;
  type: "org.restored";
  orgId: string;
  orgRevision: number;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    force?: true;
  };
  actor: FeedEventActor;
};

export type OrgSummary = {
  id: string;
  name: string;
  createdAt: string;
  /** null if the organization is not deleted */
  deletedAt: string | null;
  /** end of the time in which a deleted organization can be restored */
  purgeAt: string | null;
};

export type OrgsResponse = {
  orgs: OrgSummary[];
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
};

export type OrphanedOrg = {
  id: string;
  name: string;
  /** whether it was deleted, since it had no other member */
  isDeleted: boolean;
};

export type OwnEvent = {
  id: string;
  type: EventType;
  at: string;
  orgId: string | null;
  /** revision of the organization after the change, by which its events are ordered; numbers may be skipped */
  orgRevision: number | null;
  /** user whom the event is about */
  userId: string | null;
  /** details of the change, which depend on the type of the event */
  data: Record<string, (string | number | boolean)>;
  /** revision of the account after the change */
  userRevision: number | null;
  /** session that the event is about */
  sessionId: string | null;
  requestId: string | null;
  /** client IP address; null if it was deleted after 90 days or belongs to another user */
  ip: string | null;
  actor: OwnEventActor;
};

export type OwnEventActor = {
  type: ActorType;
  /** id of the user, or name of the operator; null for the service itself */
  id: string | null;
  /** session that acted; null if it is unknown or belongs to another user */
  sessionId: string | null;
};

export type OwnEventsResponse = {
  /** `cursor` of the next page; absent on the last page. A page can be shorter than `limit`, or empty, although a next page exists. */
  nextCursor?: string;
  events: OwnEvent[];
};

export type PasswordCommonProblem = Problem & {
  code: "password_common";
  errors: FieldError[];
};

export type PreconditionFailedProblem = Problem & {
  code: "precondition_failed";
};

/** problem details of a failed request (RFC 9457) */
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ProblemCode;
  /** id of the request, also in the `X-Request-Id` header and in the log */
  requestId: string;
};

/** stable code by which programs tell failures apart */
export type ProblemCode = "bad_request" | "malformed_json" | "validation_failed" | "password_common" | "invalid_code" | "invalid_email_code" | "invalid_invitation_code" | "invalid_second_factor_code" | "second_factor_code_used" | "audience_required" | "unauthorized" | "invalid_token" | "insufficient_user_authentication" | "invalid_credentials" | "invalid_refresh_token" | "invalid_challenge" | "invalid_client" | "forbidden" | "account_disabled" | "second_factor_required" | "wrong_password" | "step_up_required" | "insufficient_scope" | "operator_required" | "email_not_verified" | "not_a_member" | "insufficient_role" | "not_found" | "org_not_found" | "user_not_found" | "session_not_found" | "member_not_found" | "invitation_not_found" | "mail_not_found" | "service_not_found" | "method_not_allowed" | "request_timeout" | "email_taken" | "second_factor_enabled" | "verified_email_required" | "mail_unavailable" | "already_member" | "member_disabled" | "already_invited" | "invitation_ended" | "too_many_invitations" | "too_many_orgs" | "user_has_too_many_orgs" | "last_owner" | "mail_ended" | "mail_obsolete" | "service_removed" | "operator_protected" | "cursor_expired" | "precondition_failed" | "body_too_large" | "uri_too_long" | "unsupported_media_type" | "idempotency_key_reused" | "rate_limited" | "headers_too_large" | "internal_error" | "storage_full" | "unavailable";

export type PublicKey = {
  x: string;
  y: string;
  kid: string;
  kty: "EC";
  crv: "P-256";
  alg: "ES256";
  use: "sig";
};

export type RateLimitedProblem = Problem & {
  code: "rate_limited";
};

export type Readiness = {
  status: "ok" | "degraded";
  /** `degraded` while Redis is unreachable and this instance counts requests by itself */
  rateLimits: "ok" | "degraded";
  /** `degraded` while an email has been waiting for more than 10 minutes */
  mail: "ok" | "degraded";
  /** `full` if a change failed within the last minute because the disk was full; reading still works */
  database: "ok" | "full";
  migrations: "ok";
};

export type ReasonRequest = {
  /** why, for the record; only operators read it */
  reason: string;
};

export type ReasonWithForceRequest = {
  /** why, for the record; only operators read it */
  reason: string;
  /** whether to do what would leave an organization without an enabled owner; by default it is refused */
  force?: boolean | undefined;
};

export type ReceivedInvitation = {
  id: string;
  role: "member" | "admin";
  status: InvitationStatus;
  createdAt: string;
  /** seven days after the current code was created */
  expiresAt: string;
  /** the user who created or last resent the invitation */
  invitedBy: Inviter;
  org: Org;
};

export type ReceivedInvitationsResponse = {
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
  invitations: ReceivedInvitation[];
};

export type RecoveryCodesResponse = {
  /** the new recovery codes, each of which works once; they are shown this time only */
  recoveryCodes: string[];
};

export type RefreshRequest = {
  refreshToken: string;
};

export type RefreshResponse = {
  /** access token (JWT), sent as `Authorization: Bearer <token>` */
  token: string;
  /** time at which the token expires */
  expiresAt: string;
  /** replaces the refresh token that was sent */
  refreshToken: string;
};

export type RegisterRequest = {
  /** Case makes no difference. An internationalized domain is converted to its ASCII form. */
  email: string;
  /** A password of 8 to 128 characters (Unicode code points; the minimum is configurable) that is neither a common password nor the email. Every character is allowed, and spaces are kept. */
  password: string;
  /** Requests a refresh token. Access tokens are then valid for 15 minutes unless configured otherwise. */
  refresh?: boolean | undefined;
  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. */
  deviceName?: string | undefined;
  /** The code of an invitation to this email, by which the account joins the organization; null if there is none. Case, spaces and hyphens make no difference. */
  invitationCode?: string | null | undefined;
};

export type RenameOrgRequest = {
  /** 1 to 100 characters after trimming; names need not be unique */
  name: string;
};

export type RequestPasswordResetRequest = {
  email: string;
};

export type ResendInvitationRequest = {
  /** Returns the code in the answer, only this once, instead of mailing it, so that you can hand it over yourself. */
  showCode?: boolean | undefined;
};

export type ResetCodeResponse = {
  /** code to tell the user, for `POST /api/auth/password/reset`; shown once */
  code: string;
  expiresAt: string;
};

export type ResetPasswordRequest = {
  email: string;
  /** The emailed code. Case, spaces and hyphens make no difference. */
  code: string;
  /** The new password, under the rules of registration. */
  newPassword: string;
};

/** roles from the fewest permissions to the most */
export type Role = "member" | "admin" | "owner";

export type SchemaStatus = {
  /** last migration of this version */
  migration: string;
  /** `newer` if an instance of a newer version has migrated the database further */
  state: "current" | "newer";
};

export type SecondFactorCodeUsedProblem = Problem & {
  code: "second_factor_code_used";
};

export type SecondFactorEnabledProblem = Problem & {
  code: "second_factor_enabled";
};

export type SecondFactorRequiredProblem = Problem & {
  code: "second_factor_required";
  /** goes back with a code of the second factor */
  challenge: string;
  /** time at which the challenge expires */
  expiresAt: string;
};

export type SecondFactorResponse = {
  enabled: boolean;
  /** null while there is none */
  enabledAt: string | null;
  recoveryCodesLeft: number;
};

export type SecretSummary = {
  id: string;
  createdAt: string;
  /** beginning of the hour in which the secret was last used; null if it was not */
  lastUsedAt: string | null;
  /** null if the secret is live */
  revokedAt: string | null;
};

export type ServerMetadata = {
  /** `iss` of every token */
  issuer: string;
  jwks_uri: string;
  introspection_endpoint: string;
  introspection_endpoint_auth_methods_supported: "client_secret_basic"[];
};

/** a service is allowed something else */
export type ServiceAllowedEvent = {
  id: string;
  at: string;
  type: "service.allowed";
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    service: string;
    from: string;
    to: string;
  };
  actor: FeedEventActor;
};

/** a service was added */
export type ServiceCreatedEvent = {
  id: string;
  at: string;
  type: "service.created";
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    service: string;
    allow: string;
  };
  actor: FeedEventActor;
};

/** a service was disabled; every session that a code for it opened has ended */
export type ServiceDisabledEvent = {
  id: string;
  at: string;
  type: "service.disabled";
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    service: string;
  };
  actor: FeedEventActor;
};

/** a service was enabled again */
export type ServiceEnabledEvent = {
  id: string;
  at: string;
  type: "service.enabled";
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    service: string;
  };
  actor: FeedEventActor;
};

export type ServiceNotFoundProblem = Problem & {
  code: "service_not_found";
};

/** a service was removed; every session that a code for it opened has ended */
export type ServiceRemovedEvent = {
  id: string;
  at: string;
  type: "service.removed";
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    service: string;
  };
  actor: FeedEventActor;
};

export type ServiceRemovedProblem = Problem & {
  code: "service_removed";
};

/** scopes that the service is allowed */
export type ServiceScope = "introspect" | "memberships" | "events";

/** a service has a new secret */
export type ServiceSecretAddedEvent = {
  id: string;
  at: string;
  type: "service.secret_added";
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    service: string;
    secretId: string;
  };
  actor: FeedEventActor;
};

/** a secret of a service was revoked */
export type ServiceSecretRevokedEvent = {
  id: string;
  at: string;
  type: "service.secret_revoked";
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    service: string;
    secretId: string;
  };
  actor: FeedEventActor;
};

/** every session that a code for this service opened has ended */
export type ServiceSessionsEndedEvent = {
  id: string;
  at: string;
  type: "service.sessions_ended";
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    service: string;
  };
  actor: FeedEventActor;
};

export type ServiceStatus = {
  status: "ok" | "degraded";
  /** `degraded` while Redis is unreachable and this instance counts requests by itself */
  rateLimits: "ok" | "degraded";
  /** `degraded` while an email has been waiting for more than 10 minutes */
  mail: "ok" | "degraded";
  version: string;
  /** keys of the instance that answers, in the order of the key file */
  keys: KeyStatus[];
  engine: EngineStatus;
  schema: SchemaStatus;
  /** emails in the outbox */
  mails: EmailsStatus;
  /** `full` if a change failed within the last minute because the disk was full; reading still works */
  database: "ok" | "full";
  migrations: "ok";
};

export type ServiceSummary = {
  name: string;
  /** scopes that the service is allowed */
  allow: ServiceScope[];
  createdAt: string;
  /** null if the service is enabled */
  disabledAt: string | null;
  /** null if the service was not removed; names of removed ones are never used again */
  removedAt: string | null;
};

export type ServicesResponse = {
  services: ServiceSummary[];
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
};

export type Session = {
  id: string;
  /** `password` if a login or registration opened the session, `code` if a one-time code did */
  via: "password" | "code";
  createdAt: string;
  /** time of the last refresh, or of the start if there was none */
  lastUsedAt: string;
  expiresAt: string;
  /** client IP address that opened the session; null if it is unknown */
  ip: string | null;
  /** `User-Agent` of the client that opened the session; null if it is unknown */
  userAgent: string | null;
  /** the user's name for the device, given at login; null if none was given or a code opened the session */
  deviceName: string | null;
  /** name of the service that exchanged the code with its credentials; null if none did */
  service: string | null;
  /** whether this is the session of the token */
  current: boolean;
};

/** a session ended before its time or, with `all`, all sessions of the account: a token with a lower `epoch`, or with none, has ended, but not one of the session `except` */
export type SessionEndedEvent = {
  id: string;
  at: string;
  type: "session.ended";
  orgId: string | null;
  orgRevision: number | null;
  userId: string;
  userRevision: number | null;
  sessionId: string | null;
  data: {
    reason: "logout" | "revoked" | "too_many" | "code_reused" | "refresh_reused" | "password_changed" | "account_disabled" | "account_deleted" | "operator";
    all?: true;
    except?: string;
    epoch?: number;
  };
  actor: FeedEventActor;
};

export type SessionNotFoundProblem = Problem & {
  code: "session_not_found";
};

/** a user logged in by password */
export type SessionStartedEvent = {
  id: string;
  at: string;
  type: "session.started";
  orgId: string | null;
  orgRevision: number | null;
  userId: string;
  userRevision: number | null;
  sessionId: string;
  data: {
    via: "register" | "login";
  };
  actor: FeedEventActor;
};

export type SessionSummary = {
  id: string;
  /** `password` if a login or registration opened the session, `code` if a one-time code did */
  via: "password" | "code";
  createdAt: string;
  /** time of the last refresh, or of the start if there was none */
  lastUsedAt: string;
  expiresAt: string;
  /** client IP address that opened the session; null if it is unknown */
  ip: string | null;
  /** `User-Agent` of the client that opened the session; null if it is unknown */
  userAgent: string | null;
  /** the user's name for the device, given at login; null if none was given or a code opened the session */
  deviceName: string | null;
  /** name of the service that exchanged the code with its credentials; null if none did */
  service: string | null;
};

export type SessionsResponse = {
  sessions: Session[];
};

export type StepUpRequiredProblem = Problem & {
  code: "step_up_required";
};

export type StorageFullProblem = Problem & {
  code: "storage_full";
};

export type TokenResponse = {
  /** access token (JWT), sent as `Authorization: Bearer <token>` */
  token: string;
};

export type TooManyInvitationsProblem = Problem & {
  code: "too_many_invitations";
};

export type TooManyOrgsProblem = Problem & {
  code: "too_many_orgs";
};

export type TransferOrgRequest = {
  /** the member who becomes owner */
  userId: string;
  /** whether the caller leaves the organization; by default they become an admin */
  leave?: boolean | undefined;
};

export type UnauthorizedProblem = Problem & {
  code: "unauthorized";
};

export type UnavailableProblem = Problem & {
  code: "unavailable";
};

export type UnsupportedMediaTypeProblem = Problem & {
  code: "unsupported_media_type";
};

export type User = {
  id: string;
  email: string;
};

export type UserHasTooManyOrgsProblem = Problem & {
  code: "user_has_too_many_orgs";
};

export type UserNotFoundProblem = Problem & {
  code: "user_not_found";
};

export type UserOrgsResponse = {
  orgs: OrgOfAccount[];
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
};

export type UserSessionsResponse = {
  sessions: SessionSummary[];
};

export type UserSummary = {
  id: string;
  email: string;
  emailVerified: boolean;
  createdAt: string;
  /** null if the account is enabled */
  disabledAt: string | null;
  /** whether a shell has granted the user the routes of operators */
  operator: boolean;
  /** whether a login needs a second factor */
  secondFactor: boolean;
};

export type UsersResponse = {
  users: UserSummary[];
  /** `cursor` of the next page; absent on the last page */
  nextCursor?: string;
};

export type ValidationFailedProblem = Problem & {
  code: "validation_failed";
  errors: FieldError[];
};

export type VerifiedEmailRequiredProblem = Problem & {
  code: "verified_email_required";
};

export type VerifyEmailRequest = {
  /** The emailed code. Case, spaces and hyphens make no difference. */
  code: string;
};

export type WrongPasswordProblem = Problem & {
  code: "wrong_password";
};

/** Every operation of the service: what it takes, what it answers, and how it refuses. */
export interface Operations {
  /** Register an account. If the request has the code of an invitation to this email, the account joins the organization at once. At most 5 requests in any hour are accepted from one client IP address for one email. */
  register: {
    input: RegisterRequest;
    data: LoginResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | PasswordCommonProblem | InvalidInvitationCodeProblem> | At<409, EmailTakenProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Log in. An unknown email and a wrong password get the same answer. Where the account has a second factor, the answer to the right password is `second_factor_required` with a `challenge`, which takes a code to `POST /api/auth/login/second-factor`. At most 10 requests in any 15 minutes are accepted from one client IP address for one email. */
  login: {
    input: LoginRequest;
    data: LoginResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, InvalidCredentialsProblem> | At<403, AccountDisabledProblem | SecondFactorRequiredProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Log in with a second factor. The second step of a login: the challenge of the first and a code of the authenticator app, which works once, or a recovery code. After 10 wrong TOTP codes in 15 minutes, from wherever they came, only a recovery code is accepted for the rest of that time. */
  completeLogin: {
    input: CompleteLoginRequest;
    data: LoginResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, InvalidChallengeProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Get a new token for a refresh token. The refresh token in the answer replaces the one that was sent. In case the answer was lost, the old one can be sent again for 30 seconds, unless configured otherwise, and gets equally valid tokens. After that, using the old one ends the session, because a thief may hold it. */
  refresh: {
    input: RefreshRequest;
    data: RefreshResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, InvalidRefreshTokenProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Log out. Ends the session of the access token, or of the refresh token in the body, and every session that its codes opened. A refresh token needs no access token beside it; if one is sent, it is ignored. A token from a one-time code ends the whole login hand-off: the first session that a code of the login opened, and every session below it. The login stays. */
  logOut: {
    input: LogoutRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InvalidRefreshTokenProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Request a code to reset the password. A code that is valid for 15 minutes is mailed to the email if it has an account; the answer is the same if it has none. At most 3 requests in any 15 minutes are accepted from one client IP address for one email. After 5 codes in a day for one client IP address, an email gets one an hour; after 10 for all addresses, one in 15 minutes. */
  requestPasswordReset: {
    input: RequestPasswordResetRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<409, MailUnavailableProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Set a new password. Sets the password by the code from the mail or from an operator, which is valid once, and ends every session. At most 10 requests in any 15 minutes are accepted from one client IP address for one email, and 50 for one code. */
  resetPassword: {
    input: ResetPasswordRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | PasswordCommonProblem | InvalidEmailCodeProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Issue a one-time code. Pass the code, never the token, to the service that will act for the user. If the request has a `codeChallenge` (RFC 7636), only the holder of the verifier can exchange the code; if it has an `audience`, only that service, and the token is for it alone. */
  issueCode: {
    input: IssueCodeRequest;
    data: CodeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | AudienceRequiredProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Exchange a one-time code for a token. A code for one service needs the credentials of that service (HTTP Basic): without them, or with those of another, the answer is `invalid_code`, and the code stays good. A code can be exchanged once. A second exchange is refused and ends the whole login hand-off: the first session that a code of the login opened, and every session below it. The login stays. */
  exchangeCode: {
    input: ExchangeCodeRequest;
    data: TokenResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidCodeProblem> | At<401, InvalidClientProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Read the current user. Returns the user and their organizations in order of joining. `?include=roles,account` adds their roles, and whether their email is verified. */
  getMe: {
    input: {
      /** additional fields of the answer: `roles` adds the `role` of the user to each organization, `account` adds `emailVerified` to the user */
      include?: ("roles" | "account")[] | undefined;
    };
    data: CurrentUserResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Delete the account. Deletes the user's memberships, sessions and codes, too; the record keeps only ids. The only owner of an organization has to make another member owner first; the refusal names such organizations in `orgs`. A request counts as a login for the limits, and requires a token from a login by password. Where the account has a second factor, it needs a `code` of that, too. */
  deleteAccount: {
    input: {
      /** If true, a refusal suggests a way out in its member `remedy`. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the answer is that of the change. */
      dryRun?: boolean | undefined;
    } & DeleteAccountRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem | WrongPasswordProblem> | At<409, LastOwnerProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Read the account of the current user. Tells whether the email is verified, and when the password was last changed. */
  getAccount: {
    input: undefined;
    data: AccountResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Export all data about the current user. The document holds the account, the organizations, the sessions, the record, the emails, and the invitations to the email if it is verified. It contains no hash, no code, no secret, and no client IP address of anybody else. It is as long as the record is, and is streamed: without its last brace it is incomplete. Requires a token from a login by password. */
  exportData: {
    input: undefined;
    data: ExportResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Change the password. Ends every session but that of the token, and voids codes that have not been exchanged. A request counts as a login for the limits, and requires a token from a login by password. Where the account has a second factor, it needs a `code` of that, too. */
  changePassword: {
    input: ChangePasswordRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | PasswordCommonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem | WrongPasswordProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Request a code to verify the email. A code that is valid for 15 minutes is mailed to the email of the account. The status is 200 if the email is already verified. At most 3 requests in any 15 minutes are accepted. After 5 codes in a day the user gets one an hour. */
  requestEmailVerification: {
    input: undefined;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<409, MailUnavailableProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Verify the email. Verifies the email by the code from the mail. If the code belongs to a change of the email, the new email takes effect now. At most 10 requests in any 15 minutes are accepted, and 50 for one code. */
  verifyEmail: {
    input: VerifyEmailRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidEmailCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<409, EmailTakenProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Change the email. A code is mailed to the new email and a notice to the old one; the change is made when the code is sent to `POST /api/me/email/verify`. A second request replaces the first, and a request for the current email cancels the change. The answer does not reveal whether the new email is taken. A request counts as a login for the limits. After 5 codes in a day from one user, or 10 from all users, an email gets one an hour; after 20 codes to any emails, a user can send one an hour. Where the account has a second factor, it needs a `code` of that, too. */
  requestEmailChange: {
    input: ChangeEmailRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem | WrongPasswordProblem> | At<409, MailUnavailableProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Read whether the account has a second factor. Tells since when a login asks for it, and how many recovery codes are left. */
  getSecondFactor: {
    input: undefined;
    data: SecondFactorResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Set up a second factor. Returns a secret for an authenticator app. It takes effect once it is confirmed with a TOTP code, within 10 minutes; asking again replaces it. A request counts as a login for the limits, and requires a token from a login by password. */
  enrollSecondFactor: {
    input: EnrollSecondFactorRequest;
    data: EnrollmentResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem | WrongPasswordProblem> | At<409, SecondFactorEnabledProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Confirm a second factor. From now on a login asks for a TOTP code, each of which works once, or for a recovery code. Shows the recovery codes, this time only. Ends every session but that of the token, which counts as a login with a second factor. A request counts as a login for the limits, and requires a token from a login by password. If this service sends emails, it also requires a verified email. */
  confirmSecondFactor: {
    input: ConfirmSecondFactorRequest;
    data: RecoveryCodesResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<409, SecondFactorEnabledProblem | VerifiedEmailRequiredProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Make new recovery codes. Shows ten new ones, this time only, and voids the previous ones. A request counts as a login for the limits, and requires a token from a login by password. */
  renewRecoveryCodes: {
    input: ChangeSecondFactorRequest;
    data: RecoveryCodesResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem | WrongPasswordProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Remove the second factor. The password alone logs in again. Ends every session but that of the token. An operator is no longer an operator afterwards. A request counts as a login for the limits, and requires a token from a login by password. */
  removeSecondFactor: {
    input: ChangeSecondFactorRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem | WrongPasswordProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List the sessions of the current user. Lists the active sessions, latest first. */
  listSessions: {
    input: undefined;
    data: SessionsResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** End the other sessions of the current user, or all sessions. Unless `all` is true, the session of the token stays; the sessions that its codes opened end. Requires a token from a login by password. */
  revokeSessions: {
    input: {
      /** whether the session of the token ends, too */
      all?: boolean | undefined;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** End a session of the current user. Ends the session and every session that its codes opened. A session that a code opened ends with its whole login hand-off: the first session that a code of the login opened, and every session below it. The login stays. Requires a token from a login by password. */
  revokeSession: {
    input: {
      /** id of the session, from the list of sessions */
      sessionId: string;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<404, SessionNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List the current user's invitations. Lists the pending invitations to the user's email, latest first, in pages. The list is empty while the email is not verified. */
  listReceivedInvitations: {
    input: {
      /** maximum number of invitations on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: ReceivedInvitationsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Accept an invitation. The request needs the code of the invitation unless the email is verified; a code that was mailed verifies the email. At most 50 codes may be entered for one invitation. */
  acceptInvitation: {
    input: {
      /** id of the invitation, from its creation or from a list of invitations */
      invitationId: string;
    } & AnswerInvitationRequest;
    data: AcceptedResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidInvitationCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem | EmailNotVerifiedProblem> | At<404, InvitationNotFoundProblem> | At<409, AlreadyMemberProblem | InvitationEndedProblem | TooManyOrgsProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key";
  };
  /** Decline an invitation. The request needs the code of the invitation unless the email is verified. */
  declineInvitation: {
    input: {
      /** id of the invitation, from its creation or from a list of invitations */
      invitationId: string;
    } & AnswerInvitationRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidInvitationCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem | EmailNotVerifiedProblem> | At<404, InvitationNotFoundProblem> | At<409, InvitationEndedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key";
  };
  /** Accept an invitation by its code. The invitation must be to the user's email, which need not be verified; a code that was mailed verifies it. At most 10 codes may be entered in any 15 minutes, and 50 wrong ones for one invitation. */
  acceptInvitationByCode: {
    input: AnswerInvitationByCodeRequest;
    data: AcceptedResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidInvitationCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<409, AlreadyMemberProblem | InvitationEndedProblem | TooManyOrgsProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key";
  };
  /** Decline an invitation by its code. The invitation must be to the user's email, which need not be verified. The limits are those of accepting by code. */
  declineInvitationByCode: {
    input: AnswerInvitationByCodeRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidInvitationCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<409, InvitationEndedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key";
  };
  /** Create an organization. The caller becomes the owner of the organization. */
  createOrg: {
    input: CreateOrgRequest;
    data: OrgResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<409, TooManyOrgsProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key";
  };
  /** Read an organization and its members. Every member may do this. Send the `ETag` in `If-Match` to change the organization only if nobody else has changed it. */
  getOrg: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
    };
    data: OrgDetailResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, NotAMemberProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Rename an organization. Requires the role admin or owner. */
  renameOrg: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
    } & RenameOrgRequest;
    data: OrgResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Delete an organization. Requests for the organization get 404 at once, and its pending invitations are revoked. An owner can restore it until `purgeAt`. Requires the role owner and a token from a login by password. */
  deleteOrg: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** If true, nothing is changed, and the answer is that of the change. */
      dryRun?: boolean | undefined;
    };
    data: OrgDeletionResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem | StepUpRequiredProblem> | At<404, OrgNotFoundProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Restore a deleted organization. Restores the organization with the members who still have an account. Requires that the caller was an owner of the organization, and a token from a login by password. */
  restoreOrg: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** If true, nothing is changed, and the answer is that of the change. */
      dryRun?: boolean | undefined;
    };
    data: OrgResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<404, OrgNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key";
  };
  /** Leave an organization. Every member except the last owner may leave. An owner needs a token from a login by password. */
  leaveOrg: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** If true, a refusal suggests a way out in its member `remedy`. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the answer is that of the change. */
      dryRun?: boolean | undefined;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | StepUpRequiredProblem> | At<404, OrgNotFoundProblem> | At<409, LastOwnerProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Transfer an organization. Another member becomes an owner, and the caller becomes an admin, or leaves if `leave` is true. Requires the role owner and a token from a login by password. */
  transferOrg: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** If true, nothing is changed, and the answer is that of the change. */
      dryRun?: boolean | undefined;
    } & TransferOrgRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem | StepUpRequiredProblem> | At<404, OrgNotFoundProblem | MemberNotFoundProblem> | At<409, MemberDisabledProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** List the organizations of the current user. Lists the organizations in order of joining, in pages. */
  listOrgs: {
    input: {
      /** maximum number of organizations on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: OrgMembershipsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List the deleted organizations that the current user can restore. Lists the deleted organizations that the user owns, in order of joining, in pages. */
  listDeletedOrgs: {
    input: {
      /** maximum number of organizations on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: DeletedOrgsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List the members. Lists the members in order of joining. If `limit` is given, the answer is one page; `nextCursor` is the `cursor` of the next page, which the `Link` header names, too. `search` and `role` filter the list, which is then ordered by email and always paged. Every member may do this. */
  listMembers: {
    input: {
      /** beginning of the e-mails to find, such as `gra`; the list is then ordered by e-mail */
      search?: string | undefined;
      /** role of the members to find; the list is then ordered by email */
      role?: Role | undefined;
      /** maximum number of members on a page; the default is 100 with `search` or `role`, otherwise the whole list */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
    };
    data: MembersResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, NotAMemberProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Add a member by email. The new member must already have an account. A caller may send at most 100 emails without an account in any hour. Requires the role admin or owner. */
  addMember: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
    } & AddMemberRequest;
    data: MemberRoleResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem | UserNotFoundProblem> | At<409, AlreadyMemberProblem | UserHasTooManyOrgsProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Read a member. Every member may do this; the id `me` names the caller. */
  getMember: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** user id of the member, from the list of members, or `me` */
      userId: string;
    };
    data: MemberDetailResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, NotAMemberProblem> | At<404, OrgNotFoundProblem | MemberNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Change a member's role. Admins may change members and admins; only owners may change an owner or make a member an owner, with a token from a login by password. The last owner keeps their role. */
  changeMemberRole: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** user id of the member, from the list of members */
      userId: string;
      /** If true, a refusal suggests a way out in its member `remedy`. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the answer is that of the change. */
      dryRun?: boolean | undefined;
    } & ChangeMemberRoleRequest;
    data: MemberRoleResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem | StepUpRequiredProblem> | At<404, OrgNotFoundProblem | MemberNotFoundProblem> | At<409, LastOwnerProblem | MemberDisabledProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Remove a member. Admins may remove members and admins, themselves included; only owners may remove an owner, with a token from a login by password. The last owner cannot be removed. */
  removeMember: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** user id of the member, from the list of members */
      userId: string;
      /** If true, a refusal suggests a way out in its member `remedy`. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the answer is that of the change. */
      dryRun?: boolean | undefined;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem | StepUpRequiredProblem> | At<404, OrgNotFoundProblem | MemberNotFoundProblem> | At<409, LastOwnerProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Invite somebody by email. A code that is valid for seven days is mailed to the email, whether or not it has an account; if `showCode` is true, the answer has the code instead. In any day at most 25 invitations are mailed to one email, 5 of them by one inviter or for one organization, and 100 by one inviter or for one organization to all emails. Requires the role admin or owner. */
  createInvitation: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** If true, a refusal suggests a way out in its member `remedy`. */
      remedy?: boolean | undefined;
    } & CreateInvitationRequest;
    data: InvitationResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem> | At<409, AlreadyMemberProblem | AlreadyInvitedProblem | TooManyInvitationsProblem | MailUnavailableProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** List the invitations. Lists the invitations, latest first, in pages, without their codes. Invitations that ended long ago are deleted. Requires the role admin or owner. */
  listInvitations: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** maximum number of invitations on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
      /** status of the invitations to list */
      status?: InvitationStatus | undefined;
    };
    data: InvitationsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Resend an invitation. A pending or expired invitation gets a new code, which is valid for seven days; the old code is void. The caller becomes the inviter. The limits are those of inviting. Requires the role admin or owner. */
  resendInvitation: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** id of the invitation, from its creation or from a list of invitations */
      invitationId: string;
      /** If true, a refusal suggests a way out in its member `remedy`. */
      remedy?: boolean | undefined;
    } & ResendInvitationRequest;
    data: InvitationResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem | InvitationNotFoundProblem> | At<409, InvitationEndedProblem | AlreadyMemberProblem | AlreadyInvitedProblem | TooManyInvitationsProblem | MailUnavailableProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Revoke an invitation. Revokes a pending or expired invitation. Requires the role admin or owner. */
  revokeInvitation: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** id of the invitation, from its creation or from a list of invitations */
      invitationId: string;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem | InvitationNotFoundProblem> | At<409, InvitationEndedProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Read the record of an organization. Lists who changed what, latest first. Requires the role admin or owner. */
  listOrgAuditEvents: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** type of the events to list; the search for a page ends after five times `limit` events, so a page can be empty although a next one exists */
      type?: EventType | undefined;
      /** maximum number of events on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
      /** user whose events are listed */
      userId?: string | undefined;
    };
    data: OrgEventsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | NotAMemberProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Read the record of the current user. Lists what happened to the account, its logins and its memberships, latest first. Requires a token from a login by password. */
  listAuditEvents: {
    input: {
      /** type of the events to list; the search for a page ends after five times `limit` events, so a page can be empty although a next one exists */
      type?: EventType | undefined;
      /** maximum number of events on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: OwnEventsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | StepUpRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Follow the feed. Lists what has changed, in one order: events of an organization by its revision, events of an account by its own. Without `after` the answer has no events but the cursor of now: take it first, then read the state that you keep, then follow. A page that is not full has everything that was committed before the request. Nothing is missing, and nothing comes twice. At most 20 requests of a service wait at one process. */
  listEvents: {
    input: {
      /** `next` of the last answer, or `start` for the oldest event that is kept; without it the answer is the cursor of now */
      after?: string | undefined;
      /** seconds to wait for an event if there is none yet */
      wait?: number | undefined;
      /** maximum number of events on a page */
      limit?: number | undefined;
    };
    data: FeedResponse;
    problem: At<400, ValidationFailedProblem> | At<401, InvalidClientProblem> | At<403, InsufficientScopeProblem> | At<410, CursorExpiredProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Ask whether an access token is valid now. Introspection of RFC 7662. Every token that is not valid now gets the same answer: one that is malformed, expired or revoked, one of a disabled user, and one that is meant for another service. With `orgId` the answer also tells the user's role in that organization. */
  introspectToken: {
    input: IntrospectTokenRequest;
    data: IntrospectionResponse;
    problem: At<400, ValidationFailedProblem | BadRequestProblem> | At<401, InvalidClientProblem> | At<403, InsufficientScopeProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List memberships. Lists the memberships in an organization or of a user in order of joining, in pages. With both ids the list has at most one. It leaves out disabled users and deleted organizations. */
  listMemberships: {
    input: {
      /** organization whose memberships to list */
      orgId?: string | undefined;
      /** user whose memberships to list */
      userId?: string | undefined;
      /** maximum number of memberships on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: MembershipsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, InvalidClientProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Discover the issuer by its URL (OAuth). The subset of RFC 8414 that is true here: no tokens are issued by its protocols. It exists only where `JWT_ISSUER` is a URL, and may be cached for five minutes. */
  getServerMetadata: {
    input: undefined;
    data: ServerMetadata;
    problem: At<404, NotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Discover the issuer by its URL (OpenID Connect). The same as the OAuth metadata, where libraries for OpenID Connect look for it. This service is no OpenID provider. The answer may be cached for five minutes. */
  getOpenidConfiguration: {
    input: undefined;
    data: ServerMetadata;
    problem: At<404, NotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Get the public keys that verify tokens. Services verify tokens with this JWK Set (RFC 7517) without a call to this service: they check the algorithm ES256, the key named by `kid`, the `typ` `at+jwt`, and the claims `iss`, `aud` and `exp`. Only this service knows which sessions are revoked. The answer may be cached for five minutes. */
  getKeySet: {
    input: undefined;
    data: KeySet;
    problem: never;
    headers: never;
  };
  /** Check whether the process runs. Nothing else is checked, so that an outage of the database does not restart the service. */
  getLiveness: {
    input: undefined;
    data: Liveness;
    problem: never;
    headers: never;
  };
  /** Check whether requests can be served. The status is 200 if the database answers, its schema is up to date, and the service is not shutting down. */
  getReadiness: {
    input: undefined;
    data: Readiness;
    problem: At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List users. Lists all users in order of their emails, in pages. `search` finds those whose email begins with it. */
  adminListUsers: {
    input: {
      /** beginning of the e-mails to find, such as `gra` */
      search?: string | undefined;
      /** status of the accounts to find; the search for a page of active ones ends after five times `limit` accounts, so a page can be short although a next one exists */
      status?: "active" | "disabled" | undefined;
      /** maximum number of users on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: UsersResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Read an account. Tells whether the account is enabled, has a second factor, and is that of an operator. */
  adminGetUser: {
    input: {
      /** id of the user */
      userId: string;
    };
    data: AdminUserResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List the sessions of a user. Lists the active sessions, latest first. */
  adminListUserSessions: {
    input: {
      /** id of the user */
      userId: string;
    };
    data: UserSessionsResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List the organizations of a user. Lists the organizations in order of joining, deleted ones too, in pages. */
  adminListUserOrgs: {
    input: {
      /** id of the user */
      userId: string;
      /** maximum number of organizations on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: UserOrgsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Disable an account. Every session ends at its next request, and nobody can log in. The only enabled owner of an organization is refused, and `orgs` names such organizations; with `force` the answer names those that are left without one. */
  adminDisableUser: {
    input: {
      /** id of the user */
      userId: string;
    } & ReasonWithForceRequest;
    data: ForcedChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem | LastOwnerProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Enable an account. The user can log in again; ended sessions stay ended. An account that is not disabled stays as it is. */
  adminEnableUser: {
    input: {
      /** id of the user */
      userId: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** End all sessions of a user. The user is logged out everywhere, at the next request of each session, and can log in again. */
  adminRevokeUserSessions: {
    input: {
      /** id of the user */
      userId: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Verify the email of a user. The operator knows that the email is the user's own. One that is verified stays so. */
  adminVerifyUserEmail: {
    input: {
      /** id of the user */
      userId: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Remove the second factor of a user. Helps somebody who has lost it, and whom the operator has recognized: every session ends, the password alone logs in again, and a notice is mailed to the user if the email is verified. An account without a second factor stays as it is. The account of an operator is refused; the command line revokes the grant with the factor. */
  adminRemoveUserSecondFactor: {
    input: {
      /** id of the user */
      userId: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Issue a code for a new password. The answer shows the code once: tell it to the user, who sets a new password with it within 15 minutes. It does not verify the email. A change of the email voids it, and so does the end of all sessions. A notice is mailed to the user if the email is verified. */
  adminIssueResetCode: {
    input: {
      /** id of the user */
      userId: string;
    } & ReasonRequest;
    data: ResetCodeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem | AccountDisabledProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Delete an account. Deletes the user's memberships, sessions and codes, too; the record keeps only ids. This cannot be undone. The only enabled owner of an organization is refused, and `orgs` names such organizations; with `force` the answer names those that are left without one. */
  adminDeleteUser: {
    input: {
      /** id of the user */
      userId: string;
    } & ReasonWithForceRequest;
    data: ForcedChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem | LastOwnerProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List organizations. Lists all organizations in order of their names, deleted ones too, in pages. `search` finds those whose name begins with it. */
  adminListOrgs: {
    input: {
      /** beginning of the names to find, such as `Analyt`, in upper and lower case as in the name */
      search?: string | undefined;
      /** status of the organizations to find; the search for a page of active ones ends after five times `limit` organizations, so a page can be short although a next one exists */
      status?: "active" | "deleted" | undefined;
      /** maximum number of organizations on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: OrgsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Read any organization. Counts the members of each role, of a deleted organization too. */
  adminGetOrg: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
    };
    data: AdminOrgResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List the members of any organization. Lists the members in order of their emails, in pages, of a deleted organization too. `search` finds those whose email begins with it. */
  adminListOrgMembers: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
      /** beginning of the e-mails to find, such as `gra` */
      search?: string | undefined;
      /** role of the members to find */
      role?: Role | undefined;
      /** maximum number of members on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: OrgMembersResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Make somebody an owner of an organization. Other owners stay. Somebody who is no member is refused, and added with `force`. */
  adminAddOrgOwner: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
    } & AddOrgOwnerRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem | OrgNotFoundProblem | MemberNotFoundProblem> | At<409, OperatorProtectedProblem | MemberDisabledProblem | UserHasTooManyOrgsProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Restore a deleted organization as an operator. Restores the organization with the members who still have an account, until its `purgeAt`. One that is not deleted stays as it is. One whose owners are gone or disabled is refused, and restored with `force`. */
  adminRestoreOrg: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
    } & ReasonWithForceRequest;
    data: OrgResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, OrgNotFoundProblem> | At<409, LastOwnerProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Delete an organization as an operator. Requests for the organization get 404 at once, and its pending invitations are revoked. An owner or an operator can restore it until `purgeAt`. One that is deleted stays as it is. */
  adminDeleteOrg: {
    input: {
      /** id of the organization, from its creation or from `GET /api/me` */
      orgId: string;
    } & ReasonRequest;
    data: OrgDeletionResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, OrgNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Read the audit log. Lists who changed what, latest first, in pages, with the addresses of clients and the reasons that operators gave. `userId` and `orgId` may be ids of what was deleted: the record still knows it. */
  adminListAuditEvents: {
    input: {
      /** type of the events to list, which needs `userId`, `orgId` or at most a day between `since` and `until`; the search for a page ends after five times `limit` events, so a page can be empty although a next one exists */
      type?: EventType | undefined;
      /** id of a user, whose events are listed */
      userId?: string | undefined;
      /** id of an organization, whose events are listed */
      orgId?: string | undefined;
      /** time from which on events are listed: with its zone, a day in UTC, or an age such as `24h` */
      since?: string | undefined;
      /** time before which events are listed: with its zone, a day in UTC, or an age such as `24h` */
      until?: string | undefined;
      /** maximum number of events on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: AuditEventsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List emails. Lists emails that wait, failed or were dropped, latest first, in pages, without their texts and codes. Emails are kept for 7 days. */
  adminListEmails: {
    input: {
      /** state of the emails to list; by default those that wait and those that failed */
      state?: MailState | undefined;
      /** email address to which the emails are addressed */
      to?: string | undefined;
      /** maximum number of mails on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: EmailsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Send an email now. The mail waits or has failed. One that is of no use any more is never sent: its code has expired or is void, or its invitation has ended. */
  adminRetryEmail: {
    input: {
      /** id of the mail */
      mailId: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, MailNotFoundProblem> | At<409, MailEndedProblem | MailObsoleteProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List services. Lists all services in order of their names, removed ones too, in pages. */
  adminListServices: {
    input: {
      /** maximum number of services on a page */
      limit?: number | undefined;
      /** `nextCursor` of the previous page */
      cursor?: string | undefined;
    };
    data: ServicesResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Read a service. Shows its secrets by their ids and times only: a new one is made by the command line. */
  adminGetService: {
    input: {
      /** name of the service */
      name: string;
    };
    data: AdminServiceResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, ServiceNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Disable a service. The service is refused from its next request on, and the sessions that codes for it opened end for good. One that is disabled stays so. */
  adminDisableService: {
    input: {
      /** name of the service */
      name: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, ServiceNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Enable a service. The service is accepted again; ended sessions stay ended. One that is not disabled stays as it is. */
  adminEnableService: {
    input: {
      /** name of the service */
      name: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<404, ServiceNotFoundProblem> | At<409, ServiceRemovedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Read the state of the service. Tells what runs, on which database, with which keys, how many emails wait or have failed, and what `GET /health/ready` tells. */
  adminGetStatus: {
    input: undefined;
    data: ServiceStatus;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
}

/** Operators call these by `createAdminClient`. */
export type AdminOperationId = "adminListUsers" | "adminGetUser" | "adminListUserSessions" | "adminListUserOrgs" | "adminDisableUser" | "adminEnableUser" | "adminRevokeUserSessions" | "adminVerifyUserEmail" | "adminRemoveUserSecondFactor" | "adminIssueResetCode" | "adminDeleteUser" | "adminListOrgs" | "adminGetOrg" | "adminListOrgMembers" | "adminAddOrgOwner" | "adminRestoreOrg" | "adminDeleteOrg" | "adminListAuditEvents" | "adminListEmails" | "adminRetryEmail" | "adminListServices" | "adminGetService" | "adminDisableService" | "adminEnableService" | "adminGetStatus";

/** Services call these by `createServiceClient`. */
export type ServiceOperationId = "exchangeCode" | "listEvents" | "introspectToken" | "listMemberships";

export const ROUTES: Readonly<Record<keyof Operations, Route>> = {
  register: {"method":"POST","path":"/api/auth/register","body":"json","fields":["email","password","refresh","deviceName","invitationCode"],"opensSession":true,"answer":["token","user"],"codes":"validation_failed malformed_json password_common invalid_invitation_code email_taken body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  login: {"method":"POST","path":"/api/auth/login","body":"json","fields":["email","password","refresh","deviceName"],"opensSession":true,"answer":["token","user"],"codes":"validation_failed malformed_json invalid_credentials account_disabled second_factor_required body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  completeLogin: {"method":"POST","path":"/api/auth/login/second-factor","body":"json","fields":["challenge","code","refresh","deviceName"],"opensSession":true,"answer":["token","user"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used invalid_challenge body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  refresh: {"method":"POST","path":"/api/auth/refresh","body":"json","fields":["refreshToken"],"answer":["token","expiresAt","refreshToken"],"codes":"validation_failed malformed_json invalid_refresh_token body_too_large unsupported_media_type internal_error unavailable storage_full"},
  logOut: {"method":"POST","path":"/api/auth/logout","body":"json","fields":["refreshToken"],"auth":"bearer","anonymous":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token invalid_refresh_token body_too_large unsupported_media_type internal_error unavailable storage_full"},
  requestPasswordReset: {"method":"POST","path":"/api/auth/password/forgot","body":"json","fields":["email"],"answer":["ok"],"codes":"validation_failed malformed_json mail_unavailable body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  resetPassword: {"method":"POST","path":"/api/auth/password/reset","body":"json","fields":["email","code","newPassword"],"answer":["ok"],"codes":"validation_failed malformed_json password_common invalid_email_code body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  issueCode: {"method":"POST","path":"/api/auth/code","body":"json","fields":["codeChallenge","audience","codeChallengeMethod"],"auth":"bearer","answer":["code"],"codes":"validation_failed malformed_json audience_required unauthorized invalid_token insufficient_scope body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  exchangeCode: {"method":"POST","path":"/api/auth/code/exchange","body":"json","fields":["code","codeVerifier"],"auth":"basic","anonymous":true,"callers":"service","answer":["token"],"codes":"validation_failed malformed_json invalid_code invalid_client body_too_large unsupported_media_type internal_error unavailable storage_full"},
  getMe: {"method":"GET","path":"/api/me","query":["include"],"auth":"bearer","repeatable":true,"answer":["user","orgs"],"codes":"validation_failed unauthorized invalid_token internal_error unavailable storage_full"},
  deleteAccount: {"method":"DELETE","path":"/api/me","query":["remedy","dryRun"],"body":"json","fields":["password","code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_scope step_up_required wrong_password last_owner body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  getAccount: {"method":"GET","path":"/api/me/account","auth":"bearer","repeatable":true,"answer":["emailVerified","createdAt","passwordChangedAt","user"],"codes":"unauthorized invalid_token insufficient_scope internal_error unavailable storage_full"},
  exportData: {"method":"GET","path":"/api/me/export","auth":"bearer","repeatable":true,"answer":["exportedAt","account","organizations","secondFactor","sessions","events","mails","invitations"],"codes":"unauthorized invalid_token insufficient_scope step_up_required rate_limited internal_error unavailable storage_full"},
  changePassword: {"method":"PUT","path":"/api/me/password","body":"json","fields":["currentPassword","newPassword","code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json password_common invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_scope step_up_required wrong_password body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  requestEmailVerification: {"method":"POST","path":"/api/me/email/verification","auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope step_up_required mail_unavailable body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  verifyEmail: {"method":"POST","path":"/api/me/email/verify","body":"json","fields":["code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json invalid_email_code unauthorized invalid_token insufficient_scope step_up_required email_taken body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  requestEmailChange: {"method":"PUT","path":"/api/me/email","body":"json","fields":["email","password","code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_scope step_up_required wrong_password mail_unavailable body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  getSecondFactor: {"method":"GET","path":"/api/me/second-factor","auth":"bearer","repeatable":true,"answer":["enabled","enabledAt","recoveryCodesLeft"],"codes":"unauthorized invalid_token insufficient_scope internal_error unavailable storage_full"},
  enrollSecondFactor: {"method":"POST","path":"/api/me/second-factor","body":"json","fields":["password"],"auth":"bearer","answer":["secret","uri"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope step_up_required wrong_password second_factor_enabled body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  confirmSecondFactor: {"method":"POST","path":"/api/me/second-factor/confirm","body":"json","fields":["code"],"auth":"bearer","answer":["recoveryCodes"],"codes":"validation_failed malformed_json invalid_second_factor_code unauthorized invalid_token insufficient_scope step_up_required second_factor_enabled verified_email_required body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  renewRecoveryCodes: {"method":"POST","path":"/api/me/second-factor/recovery-codes","body":"json","fields":["password","code"],"auth":"bearer","answer":["recoveryCodes"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_scope step_up_required wrong_password body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  removeSecondFactor: {"method":"POST","path":"/api/me/second-factor/remove","body":"json","fields":["password","code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_scope step_up_required wrong_password body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  listSessions: {"method":"GET","path":"/api/me/sessions","auth":"bearer","repeatable":true,"answer":["sessions"],"codes":"unauthorized invalid_token insufficient_scope internal_error unavailable storage_full"},
  revokeSessions: {"method":"DELETE","path":"/api/me/sessions","query":["all"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope step_up_required body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  revokeSession: {"method":"DELETE","path":"/api/me/sessions/{sessionId}","auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope step_up_required session_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  listReceivedInvitations: {"method":"GET","path":"/api/me/invitations","query":["limit","cursor"],"auth":"bearer","repeatable":true,"answer":["invitations"],"codes":"validation_failed unauthorized invalid_token insufficient_scope internal_error unavailable storage_full"},
  acceptInvitation: {"method":"POST","path":"/api/me/invitations/{invitationId}/accept","body":"json","fields":["code"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["role","org"],"codes":"validation_failed malformed_json invalid_invitation_code unauthorized invalid_token insufficient_scope step_up_required email_not_verified invitation_not_found already_member invitation_ended too_many_orgs body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  declineInvitation: {"method":"POST","path":"/api/me/invitations/{invitationId}/decline","body":"json","fields":["code"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json invalid_invitation_code unauthorized invalid_token insufficient_scope step_up_required email_not_verified invitation_not_found invitation_ended body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  acceptInvitationByCode: {"method":"POST","path":"/api/me/invitations/accept","body":"json","fields":["code"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["role","org"],"codes":"validation_failed malformed_json invalid_invitation_code unauthorized invalid_token insufficient_scope step_up_required already_member invitation_ended too_many_orgs body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  declineInvitationByCode: {"method":"POST","path":"/api/me/invitations/decline","body":"json","fields":["code"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json invalid_invitation_code unauthorized invalid_token insufficient_scope step_up_required invitation_ended body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  createOrg: {"method":"POST","path":"/api/orgs","body":"json","fields":["name"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["org"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope too_many_orgs body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  getOrg: {"method":"GET","path":"/api/orgs/{orgId}","auth":"bearer","repeatable":true,"answer":["org"],"codes":"unauthorized invalid_token not_a_member org_not_found internal_error unavailable storage_full"},
  renameOrg: {"method":"PATCH","path":"/api/orgs/{orgId}","body":"json","fields":["name"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["org"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member insufficient_role org_not_found precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  deleteOrg: {"method":"DELETE","path":"/api/orgs/{orgId}","query":["dryRun"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok","purgeAt"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member insufficient_role step_up_required org_not_found precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  restoreOrg: {"method":"POST","path":"/api/orgs/{orgId}/restore","query":["dryRun"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["org"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope step_up_required org_not_found body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  leaveOrg: {"method":"POST","path":"/api/orgs/{orgId}/leave","query":["remedy","dryRun"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member step_up_required org_not_found last_owner precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  transferOrg: {"method":"POST","path":"/api/orgs/{orgId}/transfer","query":["dryRun"],"body":"json","fields":["userId","leave"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member insufficient_role step_up_required org_not_found member_not_found member_disabled precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  listOrgs: {"method":"GET","path":"/api/me/orgs","query":["limit","cursor"],"auth":"bearer","repeatable":true,"answer":["orgs"],"codes":"validation_failed unauthorized invalid_token internal_error unavailable storage_full"},
  listDeletedOrgs: {"method":"GET","path":"/api/me/deleted-orgs","query":["limit","cursor"],"auth":"bearer","repeatable":true,"answer":["orgs"],"codes":"validation_failed unauthorized invalid_token insufficient_scope internal_error unavailable storage_full"},
  listMembers: {"method":"GET","path":"/api/orgs/{orgId}/members","query":["search","role","limit","cursor"],"auth":"bearer","repeatable":true,"answer":["members"],"codes":"validation_failed unauthorized invalid_token not_a_member org_not_found internal_error unavailable storage_full"},
  addMember: {"method":"POST","path":"/api/orgs/{orgId}/members","body":"json","fields":["email","role"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["member"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member insufficient_role org_not_found user_not_found already_member user_has_too_many_orgs precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  getMember: {"method":"GET","path":"/api/orgs/{orgId}/members/{userId}","auth":"bearer","repeatable":true,"answer":["member"],"codes":"unauthorized invalid_token not_a_member org_not_found member_not_found internal_error unavailable storage_full"},
  changeMemberRole: {"method":"PATCH","path":"/api/orgs/{orgId}/members/{userId}","query":["remedy","dryRun"],"body":"json","fields":["role"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["member"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member insufficient_role step_up_required org_not_found member_not_found last_owner member_disabled precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  removeMember: {"method":"DELETE","path":"/api/orgs/{orgId}/members/{userId}","query":["remedy","dryRun"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member insufficient_role step_up_required org_not_found member_not_found last_owner precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  createInvitation: {"method":"POST","path":"/api/orgs/{orgId}/invitations","query":["remedy"],"body":"json","fields":["showCode","email","role"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["invitation"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member insufficient_role org_not_found already_member already_invited too_many_invitations mail_unavailable precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  listInvitations: {"method":"GET","path":"/api/orgs/{orgId}/invitations","query":["limit","cursor","status"],"auth":"bearer","repeatable":true,"answer":["invitations"],"codes":"validation_failed unauthorized invalid_token insufficient_scope not_a_member insufficient_role org_not_found internal_error unavailable storage_full"},
  resendInvitation: {"method":"POST","path":"/api/orgs/{orgId}/invitations/{invitationId}/resend","query":["remedy"],"body":"json","fields":["showCode"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["invitation"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member insufficient_role org_not_found invitation_not_found invitation_ended already_member already_invited too_many_invitations mail_unavailable precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  revokeInvitation: {"method":"DELETE","path":"/api/orgs/{orgId}/invitations/{invitationId}","auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope not_a_member insufficient_role org_not_found invitation_not_found invitation_ended precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  listOrgAuditEvents: {"method":"GET","path":"/api/orgs/{orgId}/events","query":["type","limit","cursor","userId"],"auth":"bearer","repeatable":true,"answer":["events"],"codes":"validation_failed unauthorized invalid_token insufficient_scope not_a_member insufficient_role org_not_found internal_error unavailable storage_full"},
  listAuditEvents: {"method":"GET","path":"/api/me/events","query":["type","limit","cursor"],"auth":"bearer","repeatable":true,"answer":["events"],"codes":"validation_failed unauthorized invalid_token insufficient_scope step_up_required internal_error unavailable storage_full"},
  listEvents: {"method":"GET","path":"/api/events","query":["after","wait","limit"],"auth":"basic","repeatable":true,"callers":"service","answer":["events","next"],"codes":"validation_failed invalid_client insufficient_scope cursor_expired rate_limited internal_error unavailable storage_full"},
  introspectToken: {"method":"POST","path":"/api/auth/introspect","body":"form","fields":["token","orgId","token_type_hint"],"auth":"basic","callers":"service","answer":["active"],"codes":"validation_failed bad_request invalid_client insufficient_scope body_too_large unsupported_media_type internal_error unavailable storage_full"},
  listMemberships: {"method":"GET","path":"/api/memberships","query":["orgId","userId","limit","cursor"],"auth":"basic","repeatable":true,"callers":"service","answer":["memberships"],"codes":"validation_failed invalid_client insufficient_scope internal_error unavailable storage_full"},
  getServerMetadata: {"method":"GET","path":"/.well-known/oauth-authorization-server","repeatable":true,"answer":["issuer","jwks_uri","introspection_endpoint","introspection_endpoint_auth_methods_supported"],"codes":"not_found internal_error unavailable storage_full"},
  getOpenidConfiguration: {"method":"GET","path":"/.well-known/openid-configuration","repeatable":true,"answer":["issuer","jwks_uri","introspection_endpoint","introspection_endpoint_auth_methods_supported"],"codes":"not_found internal_error unavailable storage_full"},
  getKeySet: {"method":"GET","path":"/.well-known/jwks.json","repeatable":true,"answer":["keys"],"codes":""},
  getLiveness: {"method":"GET","path":"/health/live","repeatable":true,"answer":["status"],"codes":""},
  getReadiness: {"method":"GET","path":"/health/ready","repeatable":true,"answer":["status","rateLimits","mail","database","migrations"],"codes":"internal_error unavailable storage_full"},
  adminListUsers: {"method":"GET","path":"/api/operators/users","query":["search","status","limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["users"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required internal_error unavailable storage_full"},
  adminGetUser: {"method":"GET","path":"/api/operators/users/{userId}","auth":"bearer","repeatable":true,"callers":"admin","answer":["user"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found internal_error unavailable storage_full"},
  adminListUserSessions: {"method":"GET","path":"/api/operators/users/{userId}/sessions","auth":"bearer","repeatable":true,"callers":"admin","answer":["sessions"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found internal_error unavailable storage_full"},
  adminListUserOrgs: {"method":"GET","path":"/api/operators/users/{userId}/orgs","query":["limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["orgs"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found internal_error unavailable storage_full"},
  adminDisableUser: {"method":"POST","path":"/api/operators/users/{userId}/disable","body":"json","fields":["reason","force"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found operator_protected last_owner body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminEnableUser: {"method":"POST","path":"/api/operators/users/{userId}/enable","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminRevokeUserSessions: {"method":"POST","path":"/api/operators/users/{userId}/end-sessions","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminVerifyUserEmail: {"method":"POST","path":"/api/operators/users/{userId}/verify-email","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminRemoveUserSecondFactor: {"method":"POST","path":"/api/operators/users/{userId}/remove-second-factor","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminIssueResetCode: {"method":"POST","path":"/api/operators/users/{userId}/reset-code","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["code","expiresAt"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required account_disabled user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminDeleteUser: {"method":"POST","path":"/api/operators/users/{userId}/delete","body":"json","fields":["reason","force"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found operator_protected last_owner body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminListOrgs: {"method":"GET","path":"/api/operators/orgs","query":["search","status","limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["orgs"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required internal_error unavailable storage_full"},
  adminGetOrg: {"method":"GET","path":"/api/operators/orgs/{orgId}","auth":"bearer","repeatable":true,"callers":"admin","answer":["org"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required org_not_found internal_error unavailable storage_full"},
  adminListOrgMembers: {"method":"GET","path":"/api/operators/orgs/{orgId}/members","query":["search","role","limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["members"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required org_not_found internal_error unavailable storage_full"},
  adminAddOrgOwner: {"method":"POST","path":"/api/operators/orgs/{orgId}/owners","body":"json","fields":["reason","userId","force"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required user_not_found org_not_found member_not_found operator_protected member_disabled user_has_too_many_orgs body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminRestoreOrg: {"method":"POST","path":"/api/operators/orgs/{orgId}/restore","body":"json","fields":["reason","force"],"auth":"bearer","callers":"admin","answer":["org"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required org_not_found last_owner body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminDeleteOrg: {"method":"POST","path":"/api/operators/orgs/{orgId}/delete","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok","purgeAt"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required org_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminListAuditEvents: {"method":"GET","path":"/api/operators/events","query":["type","userId","orgId","since","until","limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["events"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required internal_error unavailable storage_full"},
  adminListEmails: {"method":"GET","path":"/api/operators/mails","query":["state","to","limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["mails"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required internal_error unavailable storage_full"},
  adminRetryEmail: {"method":"POST","path":"/api/operators/mails/{mailId}/retry","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required mail_not_found mail_ended mail_obsolete body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminListServices: {"method":"GET","path":"/api/operators/services","query":["limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["services"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required internal_error unavailable storage_full"},
  adminGetService: {"method":"GET","path":"/api/operators/services/{name}","auth":"bearer","repeatable":true,"callers":"admin","answer":["service"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required service_not_found internal_error unavailable storage_full"},
  adminDisableService: {"method":"POST","path":"/api/operators/services/{name}/disable","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required service_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminEnableService: {"method":"POST","path":"/api/operators/services/{name}/enable","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required service_not_found service_removed body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminGetStatus: {"method":"GET","path":"/api/operators/status","auth":"bearer","repeatable":true,"callers":"admin","answer":["status","rateLimits","mail","version","keys","engine","schema","mails","database","migrations"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope operator_required internal_error unavailable storage_full"},
};
