// Made from docs/openapi.json by `npm run client:types`. Do not edit.

import type { At, Route } from './operation.ts';

/** The organization that the user joined, and the role there. */
export type AcceptedResponse = {
  /** Role in the organization. */
  role: Role;
  org: Org;
};

/** The user was deleted. */
export type AccountDeletedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "account.deleted";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Present if an operator forced the change. */
    force?: true;
  };
  actor: FeedEventActor;
};

/** An operator disabled the user. */
export type AccountDisabledEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "account.disabled";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Present if an operator forced the change. */
    force?: true;
  };
  actor: FeedEventActor;
};

/** The user is disabled. */
export type AccountDisabledProblem = Problem & {
  /** Stable code of the failure. */
  code: "account_disabled";
};

/** The email was changed. `verified` is set if an operator changed it, and says whether the email is verified. Without it, a verification code has verified the email. */
export type AccountEmailChangedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "account.email_changed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Whether the email is verified. Present if an operator changed the email. */
    verified?: boolean;
  };
  actor: FeedEventActor;
};

/** The email was verified. */
export type AccountEmailVerifiedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "account.email_verified";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    
  };
  actor: FeedEventActor;
};

/** An operator enabled the user again. */
export type AccountEnabledEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "account.enabled";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    
  };
  actor: FeedEventActor;
};

/** The password was changed. */
export type AccountPasswordChangedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "account.password_changed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    
  };
  actor: FeedEventActor;
};

/** The user changed the profile. The event contains no values. */
export type AccountProfileChangedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "account.profile_changed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Names of the fields that were changed. */
    changed: ("name" | "avatarUrl" | "locale")[];
  };
  actor: FeedEventActor;
};

/** A user registered, an operator created or imported the user, or the first login at a provider did. */
export type AccountRegisteredEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "account.registered";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** How it happened. */
    via?: "import" | "operator" | "provider";
    /** Name of the provider at which the user logged in. Absent for a login with a password. */
    provider?: string;
  };
  actor: FeedEventActor;
};

/** The user, and the state of email and password. */
export type AccountResponse = {
  /** Whether the email is verified. */
  emailVerified: boolean;
  /** Time of creation. */
  createdAt: string;
  /** Time of the last password change. Null if there was none. */
  passwordChangedAt: string | null;
  /** How the user can log in. Present with `include=logins`. */
  logins?: Logins;
  user: User;
};

/** A service that handed an access token on to the next one (RFC 8693 section 4.1). */
export type Actor = {
  /** The service: `service:` and its name. */
  sub: string;
  /** The service before it. Absent for the first one. */
  act?: Actor;
};

/** Who acted: a user, an operator on the command line, or Accounts itself. */
export type ActorType = "user" | "operator" | "system";

/** Body of the operation "Add a member by email". */
export type AddMemberRequest = {
  /** The email of a registered user. */
  email: string;
  /** Role in the organization. */
  role: "member" | "admin";
};

/** Body of the operation "Add an owner". */
export type AddOrgOwnerRequest = {
  /** The reason for the change, for the audit log. Only operators can read it. */
  reason: string;
  /** Id of the user who becomes an owner. */
  userId: string;
  /** Whether to add a user who is not a member. The default is false: the request is rejected. */
  force?: boolean | undefined;
};

/** An API key as operators see it, without its text. */
export type AdminApiKey = {
  /** Id of the API key. */
  id: string;
  /** Name of the API key, which its user chose. */
  name: string;
  /** Name of the one service that the API key is for. */
  audience: string;
  /** The highest role that the API key has. */
  role: Role;
  /** Whether the API key works now. A suspended one works again if its service accepts API keys and its user is enabled and, for an organization, a member who is not suspended. */
  state: ApiKeyState;
  /** Time of creation. */
  createdAt: string;
  /** Time at which the API key expires. */
  expiresAt: string;
  /** Hour of the last use. Null if it was not used. */
  lastUsedAt: string | null;
  /** The user who made the API key, and as whom it acts. */
  user: ApiKeyUser;
  /** Id of the organization that the API key belongs to. Null if it is an own one of its user. */
  orgId: string | null;
};

/** A page of the API keys, latest first. */
export type AdminApiKeysResponse = {
  /** API keys of this page. */
  apiKeys: AdminApiKey[];
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
};

/** A member as operators see them. */
export type AdminMember = {
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Role in the organization. */
  role: Role;
  /** Email address, in normalized form. */
  email: string;
  /** Whether the user is disabled. */
  disabled: boolean;
};

/** An organization as operators see it. */
export type AdminOrg = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
  /** Time of creation. */
  createdAt: string;
  /** Time of the deletion. Null if the organization is not deleted. */
  deletedAt: string | null;
  /** End of the time in which a deleted organization can be restored. Null if it is not deleted. */
  purgeAt: string | null;
  /** Number of members with each role. */
  counts: MemberCounts;
};

/** The organization, with the number of its members. */
export type AdminOrgResponse = {
  /** The organization. */
  org: AdminOrg;
};

/** The provider, without the secret of the client. */
export type AdminProviderResponse = {
  /** The provider. */
  provider: ProviderDetails;
};

/** A service with its secrets. */
export type AdminService = {
  /** Name of the service. */
  name: string;
  /** Scopes that the service is allowed. */
  allow: ServiceScope[];
  /** Time of creation. */
  createdAt: string;
  /** Time at which an operator disabled the service. Null if it is enabled. */
  disabledAt: string | null;
  /** Time of the removal. Null if the service was not removed. Names of removed services are never used again. */
  removedAt: string | null;
  /** Names of the services that it may call, without removed ones. */
  calls: string[];
  /** Names of the services that may call it, without removed ones. */
  calledBy: string[];
  /** Secrets of the service, oldest first, revoked ones included. */
  secrets: SecretSummary[];
};

/** The service, without the text of its secrets. */
export type AdminServiceResponse = {
  /** The service. */
  service: AdminService;
};

/** A user as operators see them. */
export type AdminUser = {
  /** Id of the user. */
  id: string;
  /** Email address, in normalized form. */
  email: string;
  /** Whether the email is verified. */
  emailVerified: boolean;
  /** Time of creation. */
  createdAt: string;
  /** Time at which an operator disabled the user. Null if the user is enabled. */
  disabledAt: string | null;
  /** Whether the user is an operator. */
  operator: boolean;
  /** Whether two-factor authentication is on. */
  secondFactor: boolean;
  /** Name of the user. Null if there is none. */
  name: string | null;
  /** URL of a picture of the user, which Accounts does not fetch. Null if there is none. */
  avatarUrl: string | null;
  /** Language of emails to the user (BCP 47). Null if there is none. */
  locale: string | null;
  /** Time of the last password change. Null if there was none. */
  passwordChangedAt: string | null;
  /** Time of the last login. Null if there was none. */
  lastLoginAt: string | null;
  /** Failed logins since the last login: wrong passwords, wrong codes, and logins while the user was disabled. They are counted within a few seconds. */
  failedLogins: FailedLogins;
};

/** A user as operators see them, with the limits that reject logins now. */
export type AdminUserDetails = {
  /** Id of the user. */
  id: string;
  /** Email address, in normalized form. */
  email: string;
  /** Whether the email is verified. */
  emailVerified: boolean;
  /** Time of creation. */
  createdAt: string;
  /** Time at which an operator disabled the user. Null if the user is enabled. */
  disabledAt: string | null;
  /** Whether the user is an operator. */
  operator: boolean;
  /** Whether two-factor authentication is on. */
  secondFactor: boolean;
  /** Name of the user. Null if there is none. */
  name: string | null;
  /** URL of a picture of the user, which Accounts does not fetch. Null if there is none. */
  avatarUrl: string | null;
  /** Language of emails to the user (BCP 47). Null if there is none. */
  locale: string | null;
  /** Time of the last password change. Null if there was none. */
  passwordChangedAt: string | null;
  /** Time of the last login. Null if there was none. */
  lastLoginAt: string | null;
  /** Limits that reject logins of the user at this moment. IP addresses of recent logins pass `account`. Limits of other IP addresses are unknown. */
  loginLimits: LoginLimit[];
  /** Whose logins `account` and `login` count: those of all instances (`all`), or, without Redis, those of the instance that responds (`instance`). */
  loginLimitsOf: "all" | "instance";
  /** Where the user can log in, by the names of the providers. Present with `include=identities`. */
  identities?: Identity[];
  /** Failed logins since the last login: wrong passwords, wrong codes, and logins while the user was disabled. They are counted within a few seconds. */
  failedLogins: FailedLogins;
};

/** The user as operators see them. */
export type AdminUserResponse = {
  /** The user. */
  user: AdminUserDetails;
};

/** Body of the operation "Allow a call". */
export type AllowCallRequest = {
  /** The reason for the change, for the audit log. Only operators can read it. */
  reason: string;
  /** Name of the service that is called. */
  to: string;
};

/** An invitation for this email is pending. */
export type AlreadyInvitedProblem = Problem & {
  /** Stable code of the failure. */
  code: "already_invited";
  /** The invitation that can be resent. Present with `?remedy=true`. */
  remedy?: {
    /** What resolves the failure. */
    action: "resend";
    /** Id of the invitation. */
    invitationId: string;
  };
};

/** The user is already a member. */
export type AlreadyMemberProblem = Problem & {
  /** Stable code of the failure. */
  code: "already_member";
};

/** Body of the operation "Decline an invitation by code". */
export type AnswerInvitationByCodeRequest = {
  /** The code of the invitation. Case, spaces and hyphens make no difference. */
  code: string;
};

/** Body of the operation "Decline an invitation". */
export type AnswerInvitationRequest = {
  /** The code of the invitation. Required while the email is not verified. Case, spaces and hyphens make no difference. */
  code?: string | undefined;
};

/** An API key, without its text. */
export type ApiKey = {
  /** Id of the API key. */
  id: string;
  /** Name of the API key, which its user chose. */
  name: string;
  /** Name of the one service that the API key is for. */
  audience: string;
  /** The highest role that the API key has. */
  role: Role;
  /** Whether the API key works now. A suspended one works again if its service accepts API keys and its user is enabled and, for an organization, a member who is not suspended. */
  state: ApiKeyState;
  /** Time of creation. */
  createdAt: string;
  /** Time at which the API key expires. */
  expiresAt: string;
  /** Hour of the last use. Null if it was not used. */
  lastUsedAt: string | null;
};

/** State of an API key: it works, it does not work now, or it has expired. */
export type ApiKeyState = "active" | "suspended" | "expired";

/** The user as whom a program with the API key acts. */
export type ApiKeyUser = {
  /** Id of the user. */
  id: string;
  /** Email address, in normalized form. */
  email: string;
};

/** The API keys, and the services that accept API keys. */
export type ApiKeysResponse = {
  /** API keys of the user, latest first. */
  apiKeys: ApiKey[];
  /** Names of the services that accept API keys. */
  audiences: string[];
};

/** The one-time code must name its service. */
export type AudienceRequiredProblem = Problem & {
  /** Stable code of the failure. */
  code: "audience_required";
};

/** An event of the audit log, with the details that operators see. */
export type AuditEvent = {
  /** Id of the event. */
  id: string;
  /** Type of the event, which decides the form of `data`. */
  type: EventType;
  /** Time of the event. */
  at: string;
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change, by which its events are ordered. Numbers may be skipped. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about no user. */
  userId: string | null;
  /** Details of the change, which depend on the type of the event. */
  data: Record<string, ((string | null) | number | boolean | string[])>;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about no session. */
  sessionId: string | null;
  /** Id of the request in the log. Null if the event had no request. */
  requestId: string | null;
  /** Present email of the user with `userId`. Null if the user was deleted. Present with `include=emails`. */
  userEmail?: string | null;
  /** The client IP address. Null if there was none, or if it was deleted after 90 days. */
  ip: string | null;
  /** The reason that the operator gave. Null if the actor is not an operator. */
  reason: string | null;
  actor: AuditEventActor;
};

/** Who caused an event of the audit log. */
export type AuditEventActor = {
  /** Kind of the actor. */
  type: ActorType;
  /** Id of the user, or name of the operator. Null for Accounts itself. */
  id: string | null;
  /** Email that the operator had at that time. It stays when the operator is deleted. Null for other actors. */
  email: string | null;
  /** Present email of the user who acted. Null if the user was deleted or is unknown. Present with `include=emails`. */
  userEmail?: string | null;
  /** Id of the session that acted. Null if it is unknown. */
  sessionId: string | null;
};

/** A page of the audit log, latest first. */
export type AuditEventsResponse = {
  /** Cursor of the next page. Absent on the last page. A page can be shorter than `limit`, or empty, although a next page exists. */
  nextCursor?: string;
  /** Events of this page. */
  events: AuditEvent[];
};

/** How this installation is configured, for clients. */
export type AuthConfigResponse = {
  /** Who can register: everyone, people with an invitation, or nobody. Operators can always create users. */
  registration: "open" | "invited" | "closed";
  /** Value `required` if users can do nothing before they have verified their email. */
  emailVerification: "optional" | "required";
  /** Minimum length of a password in Unicode code points. */
  passwordMinLength: number;
  /** Whether Accounts sends emails, such as reset codes. */
  emailEnabled: boolean;
  /** Claim `iss` of access tokens. */
  issuer: string;
  /** Claim `aud` of access tokens that are not bound to one service. */
  tokenAudience: string;
  /** Providers at which users can log in, in the order of their titles. Present with `include=logins`. */
  providers?: LoginProvider[];
  /** Whether a user can paste a code that a browser shows: never, if the browser is in the network of the program, or always. Present with `include=logins`. */
  crossDeviceLogin?: "off" | "same-network" | "anywhere";
};

/** Method of authentication (RFC 8176). */
export type AuthenticationMethod = "pwd" | "fed" | "otp";

/** The request is malformed. */
export type BadRequestProblem = Problem & {
  /** Stable code of the failure. */
  code: "bad_request";
  /** Code of RFC 6749. */
  error?: "invalid_request";
};

/** The body is too large. */
export type BodyTooLargeProblem = Problem & {
  /** Stable code of the failure. */
  code: "body_too_large";
  /** Code of RFC 6749. */
  error?: "invalid_request";
};

/** Body of the operation "Request an email change". */
export type ChangeEmailRequest = {
  /** The new email. */
  email: string;
  /** The current password. Required if the user has one. Otherwise the session must be a login at a provider in the last 10 minutes. */
  password?: string | undefined;
  /** A TOTP code or a recovery code. Required if two-factor authentication is on. */
  code?: string | undefined;
};

/** Body of the operation "Change a member's role". */
export type ChangeMemberRoleRequest = {
  /** Role in the organization. */
  role: Role;
};

/** Body of the operation "Change the password". */
export type ChangePasswordRequest = {
  /** The current password. Required if the user has one. Otherwise the session must be a login at a provider in the last 10 minutes. */
  currentPassword?: string | undefined;
  /** The new password, under the rules of registration. */
  newPassword: string;
  /** A TOTP code or a recovery code. Required if two-factor authentication is on. */
  code?: string | undefined;
};

/** Body of the operation "Turn off two-factor authentication". */
export type ChangeSecondFactorRequest = {
  /** The current password. Required if the user has one. Otherwise the session must be a login at a provider in the last 10 minutes. */
  password?: string | undefined;
  /** A TOTP code of six digits, or a recovery code. Case, spaces and hyphens make no difference. */
  code: string;
};

/** A one-time code for the login hand-off. */
export type CodeResponse = {
  /** The one-time code, which is valid for 60 seconds (configurable). */
  code: string;
  /** Time at which the code expires. Present if the request had `audience`. */
  expiresAt?: string;
  /** Name of the one service that can exchange the code. Present if the request had `audience`; else discard the code. */
  audience?: string;
};

/** Body of the operation "Complete a login with 2FA". */
export type CompleteLoginRequest = {
  /** The `challenge` of the first step, which expires after 5 minutes. */
  challenge: string;
  /** A TOTP code of six digits, or a recovery code. Case, spaces and hyphens make no difference. */
  code: string;
  /** If true, the response contains a refresh token, and access tokens expire after 15 minutes (configurable). The default is false. */
  refresh?: boolean | undefined;
  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. The default is the name in the first step. */
  deviceName?: string | undefined;
};

/** Body of the operation "Turn on two-factor authentication". */
export type ConfirmSecondFactorRequest = {
  /** A TOTP code: the six digits that the authenticator app shows. Spaces make no difference. */
  code: string;
};

/** Body of the operation "Create an API key". */
export type CreateApiKeyRequest = {
  /** What the API key is for, of 1 to 60 characters after trimming. Names need not be unique. */
  name: string;
  /** Name of the one service that the API key is for, from `audiences` of the list. */
  audience: string;
  /** The highest role that the API key has, even if its user has a higher one. The default is `member`. */
  role?: Role | undefined;
  /** Time at which the API key expires (RFC 3339), at most 365 days ahead (configurable). The default is 90 days. */
  expiresAt?: string | undefined;
};

/** Body of the operation "Invite a user by email". */
export type CreateInvitationRequest = {
  /** If true, the response contains the code, which is not shown again, and no email is sent. The default is false. */
  showCode?: boolean | undefined;
  /** The email to invite, whether or not a user has it. */
  email: string;
  /** Role in the organization. */
  role: "member" | "admin";
};

/** Body of the operation "Create an organization". */
export type CreateOrgRequest = {
  /** The name of the organization, of 1 to 100 characters after trimming. Names need not be unique. */
  name: string;
};

/** Body of the operation "Create a user". */
export type CreateUserRequest = {
  /** The reason for the change, for the audit log. Only operators can read it. */
  reason: string;
  /** Case makes no difference. An internationalized domain is converted to its ASCII form. */
  email: string;
  /** Name of the user. Null if there is none. */
  name?: string | null | undefined;
  /** Whether the email is verified, because you know that it belongs to the user. The default is false. */
  verified?: boolean | undefined;
};

/** The new API key, with its text. */
export type CreatedApiKeyResponse = {
  /** The new API key, without its text. */
  apiKey: ApiKey;
  /** The API key. It is not returned again. */
  key: string;
};

/** The new API key of an organization, with its text. */
export type CreatedOrgApiKeyResponse = {
  /** The new API key, without its text. */
  apiKey: OrgApiKey;
  /** The API key. It is not returned again, not even in a replayed response. */
  key?: string;
};

/** The new user and, if Accounts sends no emails, the code to set a password. */
export type CreatedUserResponse = {
  /** The user. */
  user: AdminUser;
  /** The code with which the user sets a password. Present if Accounts sends no emails. It is not shown again. */
  code?: string;
  /** Time at which `code` expires, after 7 days. Present if `code` is. */
  expiresAt?: string;
};

/** Codes that users copy from another program are off. */
export type CrossDeviceLoginOffProblem = Problem & {
  /** Stable code of the failure. */
  code: "cross_device_login_off";
};

/** The user of the access token. */
export type CurrentUser = {
  /** Id of the user. */
  id: string;
  /** Email address, in normalized form. */
  email: string;
  /** Whether the email is verified. Present with `include=account`. */
  emailVerified?: boolean;
  /** The profile of the user. Present with `include=profile`. */
  profile?: Profile;
};

/** The user of the access token, with their organizations. */
export type CurrentUserResponse = {
  /** The user. */
  user: CurrentUser;
  /** Organizations of the user, in order of joining. */
  orgs: OrgMembership[];
};

/** The cursor is too old or unknown. */
export type CursorExpiredProblem = Problem & {
  /** Stable code of the failure. */
  code: "cursor_expired";
};

/** Body of the operation "Delete the current user". */
export type DeleteAccountRequest = {
  /** The current password. Required if the user has one. Otherwise the session must be a login at a provider in the last 10 minutes. */
  password?: string | undefined;
  /** A TOTP code or a recovery code. Required if two-factor authentication is on. */
  code?: string | undefined;
};

/** A deleted organization that can be restored. */
export type DeletedOrg = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
  /** Time of the deletion. */
  deletedAt: string;
  /** End of the time in which an owner can restore the organization. */
  purgeAt: string;
};

/** A page of the deleted organizations that the user can restore. */
export type DeletedOrgsResponse = {
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
  /** Organizations of this page. */
  orgs: DeletedOrg[];
};

/** A login on this device is required. */
export type DirectSessionRequiredProblem = Problem & {
  /** Stable code of the failure. */
  code: "direct_session_required";
};

/** An organization, as services see it. */
export type DirectoryOrg = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
  /** Revision of the organization. Increases with each change. */
  revision: number;
};

/** The organizations that were found. */
export type DirectoryOrgsResponse = {
  /** The organizations that exist. */
  orgs: DirectoryOrg[];
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
};

/** A user, as services see them. */
export type DirectoryUser = {
  /** Id of the user. */
  id: string;
  /** Email address, in normalized form. */
  email: string;
  /** Name of the user. Null if there is none. */
  name: string | null;
  /** URL of a picture of the user, which Accounts does not fetch. Null if there is none. */
  avatarUrl: string | null;
  /** Whether the email is verified. */
  emailVerified: boolean;
  /** Whether an operator disabled the user. */
  disabled: boolean;
  /** Revision of the user. Increases with each change of the user. */
  revision: number;
};

/** The users that were found. */
export type DirectoryUsersResponse = {
  /** The users that exist. */
  users: DirectoryUser[];
};

/** What an email is for. */
export type EmailKind = "password_reset" | "password_changed" | "password_setup" | "reset_code_issued" | "second_factor_enabled" | "second_factor_removed" | "second_factor_guessed" | "recovery_codes_renewed" | "recovery_code_used" | "email_verification" | "email_change" | "email_change_asked" | "email_changed" | "invitation" | "password_breached" | "new_sign_in" | "key_created" | "key_reported" | "identity_linked";

/** The email is not verified. */
export type EmailNotVerifiedProblem = Problem & {
  /** Stable code of the failure. */
  code: "email_not_verified";
};

/** State of an email: it waits, was sent, has failed, or was dropped because its code is void. */
export type EmailState = "waiting" | "sent" | "failed" | "dropped";

/** An email in the queue, without its text and code. */
export type EmailSummary = {
  /** Id of the email. */
  id: string;
  /** What the email is for. */
  kind: EmailKind;
  /** Email address of the recipient. */
  recipient: string;
  /** State of the email. */
  state: EmailState;
  /** Number of attempts to send the email, the current one included. */
  attempts: number;
  /** Time of creation. */
  createdAt: string;
  /** Time of the next attempt. Null if the email does not wait. */
  nextAttemptAt: string | null;
  /** Time after which the email is not sent, because its code has expired. Null if it has no code. */
  expiresAt: string | null;
  /** Time at which the email was sent, failed or was dropped. Null if it waits. */
  endedAt: string | null;
  /** Codes of the last failure. Null if there was none. */
  lastError: string | null;
};

/** The email is already registered. */
export type EmailTakenProblem = Problem & {
  /** Stable code of the failure. */
  code: "email_taken";
};

/** A page of the emails, latest first. */
export type EmailsResponse = {
  /** Emails of this page. */
  mails: EmailSummary[];
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
};

/** Number of emails in the queue, by state. */
export type EmailsStatus = {
  /** Number of emails that wait. */
  waiting: number;
  /** Number of emails that have failed. */
  failed: number;
};

/** The user whom an operator changed, and how many sessions ended. */
export type EndedSessionsResponse = {
  /** Always true. */
  ok: true;
  /** Email of the user whom the change was about. */
  email: string;
  /** Number of sessions that were valid before the change. 0 if nothing changed. */
  sessionsEnded: number;
};

/** The database engine. */
export type EngineStatus = {
  /** Name of the engine. */
  name: "sqlite" | "mysql" | "mariadb";
  /** Version of the engine. */
  version: string;
};

/** Body of the operation "Enroll an authenticator app". */
export type EnrollSecondFactorRequest = {
  /** The current password. Required if the user has one. Otherwise the session must be a login at a provider in the last 10 minutes. */
  password?: string | undefined;
};

/** The secret for an authenticator app. */
export type EnrollmentResponse = {
  /** The secret in base32, to type into an authenticator app. */
  secret: string;
  /** The secret as an `otpauth` URI with the email and the issuer, to show as a QR code. */
  uri: string;
};

/** Who caused an event. */
export type EventActor = {
  /** Kind of the actor. */
  type: ActorType;
  /** Id of the user, or name of the operator. Null for Accounts itself. */
  id: string | null;
};

/** Type of an event. */
export type EventType = "account.registered" | "account.profile_changed" | "account.password_changed" | "account.email_verified" | "account.email_changed" | "account.reset_code_issued" | "account.second_factor_enabled" | "account.second_factor_removed" | "account.recovery_codes_renewed" | "account.recovery_code_used" | "account.identity_linked" | "account.identity_unlinked" | "account.operator_granted" | "account.operator_revoked" | "account.disabled" | "account.enabled" | "account.unblocked" | "account.deleted" | "session.started" | "session.ended" | "org.created" | "org.renamed" | "org.deleted" | "org.restored" | "org.purged" | "org.second_factor_required" | "org.second_factor_due" | "org.orphaned" | "member.added" | "member.role_changed" | "member.suspended" | "member.resumed" | "member.removed" | "invitation.created" | "invitation.resent" | "invitation.revoked" | "invitation.accepted" | "invitation.declined" | "key.created" | "key.revoked" | "keys.rotated" | "keys.pruned" | "service.created" | "service.allowed" | "service.secret_added" | "service.secret_revoked" | "service.sessions_ended" | "service.disabled" | "service.enabled" | "service.removed" | "service.tokens_ended" | "service.call_allowed" | "service.call_revoked" | "provider.added" | "provider.changed" | "provider.secret_set" | "provider.disabled" | "provider.enabled" | "provider.removed" | "mail.retried";

/** Body of the operation "Exchange a one-time code". */
export type ExchangeCodeRequest = {
  /** The one-time code. */
  code: string;
  /** The verifier (RFC 7636 section 4.1). Required if the code was issued with a challenge. */
  codeVerifier?: string | undefined;
};

/** Everything that is stored about the user. */
export type ExportResponse = {
  /** Time of the export. */
  exportedAt: string;
  /** The profile of the user. */
  account: ExportedAccount;
  /** The organizations of the user, deleted ones included as long as they can be restored. */
  organizations: ExportedOrg[];
  /** One element if two-factor authentication is on, without the secret. Empty if it is off. */
  secondFactor: ExportedSecondFactor[];
  /** Who the user is at providers, by the provider's name. */
  identities: Identity[];
  /** The API keys that the user made, those of organizations included, latest first. */
  apiKeys: ExportedApiKey[];
  /** The sessions of the user, ended ones included as long as they are kept. */
  sessions: ExportedSession[];
  /** Where the user logged in from within 90 days, latest first. */
  knownPlaces: ExportedPlace[];
  /** When the user last logged in, and failed logins since. Empty if none was noted. */
  loginTrace: LoginTrace[];
  /** Events about the user, latest first. */
  events: OwnEvent[];
  /** Emails to the user, as long as they are kept, without their texts. */
  mails: ExportedEmail[];
  /** Invitations to the email. Empty while the email is not verified. */
  invitations: ExportedInvitation[];
};

/** The exported profile of the user. */
export type ExportedAccount = {
  /** Id of the user. */
  id: string;
  /** Email address, in normalized form. */
  email: string;
  /** Name of the user. Null if there is none. */
  name: string | null;
  /** URL of a picture of the user, which Accounts does not fetch. Null if there is none. */
  avatarUrl: string | null;
  /** Language of emails to the user (BCP 47). Null if there is none. */
  locale: string | null;
  /** Time of creation. */
  createdAt: string;
  /** Time at which an operator disabled the user. Null if the user is enabled. */
  disabledAt: string | null;
  /** Time of the verification of the email. Null if it is not verified. */
  emailVerifiedAt: string | null;
  /** Time of the last password change. Null if there was none. */
  passwordChangedAt: string | null;
  /** Time at which two-factor authentication was turned on. Null if it is off. */
  secondFactorAt: string | null;
  /** Time at which the user became an operator. Null if the user is none. */
  operatorSince: string | null;
};

/** An exported API key of the user, without the key itself. */
export type ExportedApiKey = {
  /** Id of the API key. */
  id: string;
  /** Name of the API key. */
  name: string;
  /** Name of the service that the API key is for. */
  audience: string;
  /** The highest role that the API key has. */
  role: Role;
  /** Id of the organization that the API key is for. Null if it is the user's own. */
  orgId: string | null;
  /** Time of creation. */
  createdAt: string;
  /** Time of expiry. */
  expiresAt: string;
  /** Hour in which the API key was last used. Null if it was not used. */
  lastUsedAt: string | null;
};

/** An exported email, without its text. */
export type ExportedEmail = {
  /** Id of the email. */
  id: string;
  /** What the email is for. */
  kind: EmailKind;
  /** State of the email. */
  state: EmailState;
  /** Time of creation. */
  createdAt: string;
  /** Time at which the email was sent, failed or was dropped. Null if it waits. */
  endedAt: string | null;
};

/** An exported invitation to the email of the user. */
export type ExportedInvitation = {
  /** Id of the invitation. */
  id: string;
  /** Role in the organization. */
  role: "member" | "admin";
  /** Status of the invitation. */
  status: InvitationStatus;
  /** Time of creation. */
  createdAt: string;
  /** Time of expiry. */
  expiresAt: string;
  org: Org;
};

/** An exported membership of the user. */
export type ExportedOrg = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
  /** Role in the organization. */
  role: Role;
  /** Time of joining the organization. */
  joinedAt: string;
  /** Time of the deletion. Present if the organization is deleted and can still be restored. */
  deletedAt?: string;
};

/** An exported place from which the user logged in. */
export type ExportedPlace = {
  /** IP network in CIDR notation: /24 of IPv4, /48 of IPv6. */
  network: string;
  /** Kind of user agent. */
  agent: string;
  /** Time of the first login from there. */
  firstSeenAt: string;
  /** Time of the latest login from there, to the day. */
  lastSeenAt: string;
};

/** The exported state of two-factor authentication. */
export type ExportedSecondFactor = {
  /** Time at which two-factor authentication was turned on. */
  enabledAt: string;
  /** Number of recovery codes that are left. */
  recoveryCodesLeft: number;
};

/** An exported session of the user. */
export type ExportedSession = {
  /** Id of the session. */
  id: string;
  /** Value `password` if a login or registration opened the session, `code` if a one-time code did. */
  via: "password" | "code";
  /** Time of the login that the session comes from. */
  loggedInAt: string;
  /** Time of creation. */
  createdAt: string;
  /** Time of the last refresh. Null if there was none. */
  refreshedAt: string | null;
  /** Time of expiry. */
  expiresAt: string;
  /** Time of the revocation. Null if the session was not revoked. */
  revokedAt: string | null;
  /** The client IP address that opened the session. Null if it is unknown. */
  ip: string | null;
  /** The `User-Agent` of the client that opened the session. Null if it is unknown. */
  userAgent: string | null;
  /** The name of the device, given at login. Null if none was given. */
  deviceName: string | null;
};

/** The failed logins of a user since the last login. */
export type FailedLogins = {
  /** Number of failed logins. */
  count: number;
  /** Time of the last failed login. Null if there was none. */
  lastAt: string | null;
  /** The client IP address of the last failed login. Null if there was none, or if it was deleted after 90 days. */
  lastIp: string | null;
};

/** Who caused an event of the feed. */
export type FeedEventActor = {
  /** Kind of the actor. */
  type: ActorType;
  /** Id of the user. Null for an operator and for Accounts itself. */
  id: string | null;
};

/** A page of the event feed, in the order of the feed. `type` distinguishes the events. */
export type FeedResponse = {
  /** Events that follow the cursor. Empty if there are none yet. */
  events: (AccountRegisteredEvent | AccountProfileChangedEvent | AccountPasswordChangedEvent | AccountEmailVerifiedEvent | AccountEmailChangedEvent | AccountDisabledEvent | AccountEnabledEvent | AccountDeletedEvent | SessionStartedEvent | SessionEndedEvent | OrgCreatedEvent | OrgRenamedEvent | OrgDeletedEvent | OrgRestoredEvent | OrgPurgedEvent | OrgSecondFactorRequiredEvent | OrgSecondFactorDueEvent | OrgOrphanedEvent | MemberAddedEvent | MemberRoleChangedEvent | MemberSuspendedEvent | MemberResumedEvent | MemberRemovedEvent | InvitationCreatedEvent | InvitationResentEvent | InvitationRevokedEvent | InvitationAcceptedEvent | InvitationDeclinedEvent | KeyCreatedEvent | KeyRevokedEvent | ServiceCreatedEvent | ServiceAllowedEvent | ServiceSecretAddedEvent | ServiceSecretRevokedEvent | ServiceSessionsEndedEvent | ServiceDisabledEvent | ServiceEnabledEvent | ServiceRemovedEvent | ServiceTokensEndedEvent | ServiceCallAllowedEvent | ServiceCallRevokedEvent)[];
  /** Cursor to send as `after` in the next request. */
  next: string;
};

/** What is wrong with one field of the request. */
export type FieldError = {
  /** Name of the field. */
  field: string;
  /** What is wrong with the field. */
  message: string;
};

/** Body of the operation "Finish a login at a provider". */
export type FinishProviderLoginRequest = {
  /** The code of the redirect, or the code that the user pasted. */
  code: string;
  /** The verifier of the start (RFC 7636 section 4.1). */
  codeVerifier: string;
  /** If true, the response contains a refresh token, and access tokens expire after 15 minutes (configurable). The default is false. */
  refresh?: boolean | undefined;
  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. */
  deviceName?: string | undefined;
  /** Password of the user, after `link_required`. */
  password?: string | undefined;
  /** A TOTP code or a recovery code. Required if two-factor authentication is on. */
  secondFactorCode?: string | undefined;
};

/** The result of a change by an operator. */
export type ForcedChangeResponse = {
  /** Always true. */
  ok: true;
  /** Email of the user whom the change was about. */
  email: string;
  /** Number of sessions that were valid before the change. 0 if nothing changed. */
  sessionsEnded: number;
  /** Organizations that no longer have an enabled owner. Present if `force` was true. */
  orphanedOrgs?: OrphanedOrg[];
};

/** The idempotency key belongs to another request. */
export type IdempotencyKeyReusedProblem = Problem & {
  /** Stable code of the failure. */
  code: "idempotency_key_reused";
};

/** A provider where the user can log in, and who the user is there. */
export type Identity = {
  /** Name of the provider. */
  provider: string;
  /** Subject of the user at the provider. */
  subject: string;
  /** Time at which the user was linked. */
  linkedAt: string;
};

/** The user is linked to another user of the provider. */
export type IdentityTakenProblem = Problem & {
  /** Stable code of the failure. */
  code: "identity_taken";
};

/** Your role does not allow this. */
export type InsufficientRoleProblem = Problem & {
  /** Stable code of the failure. */
  code: "insufficient_role";
  requiredRole: Role;
  yourRole: Role;
};

/** The service, or the access token of a service, lacks a scope. */
export type InsufficientScopeProblem = Problem & {
  /** Stable code of the failure. */
  code: "insufficient_scope";
  /** The scope that the service would need. Absent if an access token was rejected. */
  requiredScope?: "introspect" | "memberships" | "events" | "directory" | "directory:all" | "keys";
};

/** A recent login with two-factor authentication is required. */
export type InsufficientUserAuthenticationProblem = Problem & {
  /** Stable code of the failure. */
  code: "insufficient_user_authentication";
};

/** Something went wrong. */
export type InternalErrorProblem = Problem & {
  /** Stable code of the failure. */
  code: "internal_error";
};

/** Body of the operation "Introspect a token". */
export type IntrospectTokenRequest = {
  /** The access token or API key to introspect. */
  token: string;
  /** Id of the organization in which to look up the role of the user. */
  orgId?: string | undefined;
  /** Ignored. */
  token_type_hint?: string | undefined;
};

/** State of the access token (RFC 7662 section 2.2). Only `active` is present if it is false. */
export type IntrospectionResponse = {
  /** Whether the token is valid now. */
  active: boolean;
  /** Type of the access token. */
  token_type?: "Bearer";
  /** Issuer of the access token. */
  iss?: string;
  /** Audience of the access token: one service, or Accounts and every service that accepts its tokens. */
  aud?: string;
  /** Id of the user; `service:` and its name for a service that calls for itself. */
  sub?: string;
  /** Id of the session. Absent for a service and an API key, as are the members about the login. */
  sid?: string;
  /** Id of the login above a delegated session. Absent for a login. */
  login_sid?: string;
  /** Id of the first session of the login hand-off. Absent for that session, and for a login. */
  branch_sid?: string;
  /** Id of the access token. */
  jti?: string;
  /** Time of issue, in seconds since 1970. */
  iat?: number;
  /** Time of expiry, in seconds since 1970. */
  exp?: number;
  /** Time of the login, in seconds since 1970. */
  auth_time?: number;
  /** Methods by which the session is authenticated now (RFC 8176). */
  amr?: AuthenticationMethod[];
  /** Session epoch of the user. Increases when all sessions are revoked. Reject access tokens with a lower value. */
  epoch?: number;
  /** Service that asked for the access token, or that it is bound to, else the audience. */
  client_id?: string;
  /** The latest service that handed the access token on. Absent unless a service did. */
  act?: Actor;
  /** State of the services and calls that the token depends on. Compare it with nothing. */
  via_epoch?: number;
  /** The API key, if the token is one or a service handed one on. Such a token has no session. */
  key?: KeyOfToken;
  /** The email of the user. */
  username?: string;
  /** Whether the email is verified. */
  email_verified?: boolean;
  /** Role of the user in the organization `orgId` of the request, for an API key at most the role of the key. Null if the user is not a member or is suspended, if the organization is unknown or deleted, or if the key is limited to another one. */
  org?: {
    /** Id of the organization. */
    id: string;
    /** Role in the organization. */
    role: Role;
    /** Revision of the organization. Increases with each change. */
    revision: number;
  } | null;
};

/** The challenge of the login is not valid. */
export type InvalidChallengeProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_challenge";
};

/** The credentials of a service are required. */
export type InvalidClientProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_client";
  /** Code of RFC 6749. */
  error: "invalid_client";
};

/** The one-time code is not valid. */
export type InvalidCodeProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_code";
};

/** Wrong email or password. */
export type InvalidCredentialsProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_credentials";
};

/** The verification or reset code is not valid. */
export type InvalidEmailCodeProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_email_code";
};

/** The invitation code is not valid. */
export type InvalidInvitationCodeProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_invitation_code";
};

/** The login at the provider is not valid. */
export type InvalidProviderLoginProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_provider_login";
};

/** The refresh token is not valid. */
export type InvalidRefreshTokenProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_refresh_token";
};

/** The TOTP code or recovery code is not valid. */
export type InvalidSecondFactorCodeProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_second_factor_code";
};

/** The subject token is not valid for this exchange. */
export type InvalidSubjectTokenProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_subject_token";
  /** Code of RFC 6749. */
  error: "invalid_request";
};

/** The service may not call the audience. */
export type InvalidTargetProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_target";
  /** Code of RFC 6749. */
  error: "invalid_target";
};

/** The access token is not valid. */
export type InvalidTokenProblem = Problem & {
  /** Stable code of the failure. */
  code: "invalid_token";
};

/** An invitation to an email, as admins and owners see it. */
export type Invitation = {
  /** Id of the invitation. */
  id: string;
  /** Role in the organization. */
  role: "member" | "admin";
  /** Status of the invitation. */
  status: InvitationStatus;
  /** Time of creation. */
  createdAt: string;
  /** Time at which the invitation expires: seven days after its current code was created. */
  expiresAt: string;
  /** The user who created or last resent the invitation. */
  invitedBy: Inviter;
  /** Email address, in normalized form. */
  email: string;
  /** The invitation code. Present if the request had `showCode: true`. It is not returned again. A replayed response (`Idempotency-Replayed`) has no code. Resend the invitation to get a new one. */
  code?: string;
};

/** A user accepted an invitation. */
export type InvitationAcceptedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "invitation.accepted";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Id of the invitation. */
    invitationId: string;
    role: Role;
  };
  actor: FeedEventActor;
};

/** An email address was invited. */
export type InvitationCreatedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "invitation.created";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Id of the invitation. */
    invitationId: string;
    role: Role;
  };
  actor: FeedEventActor;
};

/** A user declined an invitation. */
export type InvitationDeclinedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "invitation.declined";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Id of the invitation. */
    invitationId: string;
    role: Role;
  };
  actor: FeedEventActor;
};

/** The invitation has ended. */
export type InvitationEndedProblem = Problem & {
  /** Stable code of the failure. */
  code: "invitation_ended";
};

/** There is no such invitation. */
export type InvitationNotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "invitation_not_found";
};

/** An invitation was resent, with a new code and a new time of expiry. */
export type InvitationResentEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "invitation.resent";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Id of the invitation. */
    invitationId: string;
    role: Role;
  };
  actor: FeedEventActor;
};

/** The invitation. */
export type InvitationResponse = {
  invitation: Invitation;
};

/** An invitation was revoked. */
export type InvitationRevokedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "invitation.revoked";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Id of the invitation. */
    invitationId: string;
    role: Role;
    /** Cause of the event. */
    reason: "revoked" | "member_added" | "inviter_removed" | "inviter_left" | "inviter_demoted" | "inviter_disabled" | "inviter_deleted" | "org_deleted";
  };
  actor: FeedEventActor;
};

/** Status of an invitation. */
export type InvitationStatus = "pending" | "accepted" | "declined" | "revoked" | "expired";

/** An invitation in the list of the organization. */
export type InvitationSummary = {
  /** Id of the invitation. */
  id: string;
  /** Role in the organization. */
  role: "member" | "admin";
  /** Status of the invitation. */
  status: InvitationStatus;
  /** Time of creation. */
  createdAt: string;
  /** Time at which the invitation expires: seven days after its current code was created. */
  expiresAt: string;
  /** The user who created or last resent the invitation. */
  invitedBy: Inviter;
  /** Email address, in normalized form. */
  email: string;
};

/** A page of the invitations, latest first. */
export type InvitationsResponse = {
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
  /** Invitations of this page. */
  invitations: InvitationSummary[];
};

/** The user who sent an invitation. */
export type Inviter = {
  /** Id of the user. */
  userId: string;
  /** Email of the inviter. Null if the user was deleted. */
  email: string | null;
};

/** The user who sent an invitation, by name. */
export type InviterProfile = {
  /** Name of the user. Null if there is none. */
  name: string | null;
  /** Email of the inviter. Null if the user was deleted. */
  email: string | null;
};

/** Body of the operation "Issue a one-time code". */
export type IssueCodeRequest = {
  /** The PKCE challenge: the SHA-256 of the verifier in base64url. */
  codeChallenge?: string | undefined;
  /** Name of the one service that may exchange the code. The default is any service. */
  audience?: string | undefined;
  /** Method of the PKCE challenge. Required with `codeChallenge`. */
  codeChallengeMethod?: "S256" | undefined;
};

/** A user made an API key for the service, or an admin made one of an organization. `role` is the most that it may have. */
export type KeyCreatedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "key.created";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Id of the API key. */
    keyId: string;
    /** Name of the service. */
    service: string;
    role: Role;
  };
  actor: FeedEventActor;
};

/** There is no such API key. */
export type KeyNotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "key_not_found";
};

/** API key that a token is or began with, as services see it. */
export type KeyOfToken = {
  /** Id of the API key. */
  id: string;
  /** The most that the API key may have. */
  role: Role;
  /** Id of the organization that the API key is limited to. Null for a key of the user. */
  org: string | null;
};

/** An API key was revoked. Reject it, and tokens whose claim `key` names it. */
export type KeyRevokedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "key.revoked";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Id of the API key. */
    keyId: string;
    /** Cause of the event. */
    reason: "revoked" | "reported" | "operator" | "mailbox_reset";
  };
  actor: FeedEventActor;
};

/** The public signing keys (RFC 7517 section 5). */
export type KeySet = {
  /** Keys that verify access tokens. */
  keys: PublicKey[];
};

/** A signing key of the instance. */
export type KeyStatus = {
  /** Id of the key, which access tokens name in their header. */
  kid: string;
  /** State of the key: it signs now (`signing`), will sign (`next`), or only verifies (`verifying`). */
  state: "signing" | "next" | "verifying";
  /** Time from which on the key signs. Null if the key file does not say. */
  signsFrom: string | null;
  /** Time after which no instance signs with the key. Null if the key signs now or will sign. */
  signedUntil: string | null;
};

/** An organization must keep at least one owner. */
export type LastOwnerProblem = Problem & {
  /** Stable code of the failure. */
  code: "last_owner";
  /** Up to 100 organizations that have no other owner. Present if the request was to delete or disable the user. */
  orgs?: {
    /** Id of the organization. */
    id: string;
    /** Name of the organization. */
    name: string;
    /** Whether the organization has a member who could become owner. */
    hasOtherMembers: boolean;
  }[];
  /** Members who can be made owner. Present with `?remedy=true`. */
  remedy?: {
    /** What resolves the failure. */
    action: "transfer";
    /** Organization of the candidates. Present if the request was to delete the user. */
    orgId?: string;
    /** Up to five members who can be made owner. */
    candidates: Member[];
  };
};

/** A user with this email exists and must link the login. */
export type LinkRequiredProblem = Problem & {
  /** Stable code of the failure. */
  code: "link_required";
};

/** A provider where the user can log in. */
export type LinkedProvider = {
  /** The name of the provider, for requests. */
  name: string;
  /** The title of the provider, for users. */
  title: string;
  /** Time at which the user was linked. */
  linkedAt: string;
};

/** The process runs. */
export type Liveness = {
  /** Always `ok`. */
  status: "ok";
};

/** A limit that rejects logins of a user until a time. */
export type LoginLimit = {
  /** The limit: failed logins with the email (`account`), logins with the email from the IP address of the last failed login (`login`), or wrong TOTP codes (`second_factor`). */
  limit: "account" | "login" | "second_factor";
  /** Time from which on the next attempt is admitted. */
  until: string;
};

/** A provider where users can log in. */
export type LoginProvider = {
  /** Name of the provider, for `POST /api/auth/providers/{name}/start`. */
  name: string;
  /** Text for the button. */
  title: string;
  /** Domains of emails that the provider speaks for. */
  domains: string[];
  /** Whether users of these domains must log in here, not with a password. */
  required: boolean;
};

/** Body of the operation "Log in". */
export type LoginRequest = {
  /** Email of the user. Case makes no difference. */
  email: string;
  /** The current password. */
  password: string;
  /** If true, the response contains a refresh token, and access tokens expire after 15 minutes (configurable). The default is false. */
  refresh?: boolean | undefined;
  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. */
  deviceName?: string | undefined;
};

/** The user, with an access token and, if requested, a refresh token. */
export type LoginResponse = {
  /** The access token (JWT). Send it as `Authorization: Bearer <token>`. */
  token: string;
  /** Time at which the access token expires. Present if the request had `refresh: true`. */
  expiresAt?: string;
  /** The refresh token. Present if the request had `refresh: true`. */
  refreshToken?: string;
  user: User;
};

/** The last login of a user, and the failed logins since. */
export type LoginTrace = {
  /** Time of the last login. Null if there was none. */
  lastLoginAt: string | null;
  /** Failed logins since the last login: wrong passwords, wrong codes, and logins while the user was disabled. */
  failedLogins: FailedLogins;
};

/** How a user can log in. */
export type Logins = {
  /** Whether the user has a password. */
  password: boolean;
  /** The providers where the user can log in, by name. */
  providers: LinkedProvider[];
};

/** Body of the operation "Log out". */
export type LogoutRequest = {
  /** The refresh token of the session to revoke. Send it instead of an access token. */
  refreshToken?: string | undefined;
};

/** The email cannot be sent again. */
export type MailEndedProblem = Problem & {
  /** Stable code of the failure. */
  code: "mail_ended";
};

/** There is no such email. */
export type MailNotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "mail_not_found";
};

/** The code in the email is no longer valid. */
export type MailObsoleteProblem = Problem & {
  /** Stable code of the failure. */
  code: "mail_obsolete";
};

/** Accounts sends no emails. */
export type MailUnavailableProblem = Problem & {
  /** Stable code of the failure. */
  code: "mail_unavailable";
};

/** The body is not a JSON object. */
export type MalformedJsonProblem = Problem & {
  /** Stable code of the failure. */
  code: "malformed_json";
};

/** A member of an organization. */
export type Member = {
  /** Id of the user. */
  userId: string;
  /** Role in the organization. */
  role: Role;
  /** Email address, in normalized form. */
  email: string;
  /** Name and picture of the member. Present with `include=profile`. */
  profile?: PublicProfile;
};

/** A user became a member. */
export type MemberAddedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "member.added";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    role: Role;
    /** How it happened. */
    via: "created" | "added" | "invitation";
    /** Present if an operator forced the change. */
    force?: true;
    /** Present if the member lacks a second factor that the organization requires. Give no access until the event `member.resumed`. */
    suspended?: true;
  };
  actor: FeedEventActor;
};

/** Number of members with each role. */
export type MemberCounts = {
  /** Number of owners. */
  owner: number;
  /** Number of admins. */
  admin: number;
  /** Number of members with the role `member`. */
  member: number;
};

/** A member of an organization, with the time of joining. */
export type MemberDetail = {
  /** Id of the user. */
  userId: string;
  /** Role in the organization. */
  role: Role;
  /** Email address, in normalized form. */
  email: string;
  /** Time of joining the organization. */
  joinedAt: string;
  /** Name and picture of the member. Present with `include=profile`. */
  profile?: PublicProfile;
};

/** The member. */
export type MemberDetailResponse = {
  /** Number of members with the role `member`. */
  member: MemberDetail;
};

/** The member is disabled. */
export type MemberDisabledProblem = Problem & {
  /** Stable code of the failure. */
  code: "member_disabled";
};

/** There is no such member in this organization. */
export type MemberNotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "member_not_found";
};

/** A user is no longer a member. */
export type MemberRemovedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "member.removed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    role: Role;
    /** Cause of the event. */
    reason: "removed" | "left" | "account_deleted";
  };
  actor: FeedEventActor;
};

/** A suspended member turned on two-factor authentication. */
export type MemberResumedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "member.resumed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Cause of the event. */
    reason: "second_factor";
  };
  actor: FeedEventActor;
};

/** A member and their role. */
export type MemberRole = {
  /** Id of the user. */
  userId: string;
  /** Role in the organization. */
  role: Role;
};

/** The role of a member was changed. */
export type MemberRoleChangedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "member.role_changed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    from: Role;
    to: Role;
    /** Present if the member lacks a second factor that the organization requires. Give no access until the event `member.resumed`. */
    suspended?: true;
  };
  actor: FeedEventActor;
};

/** The member with the new role. */
export type MemberRoleResponse = {
  member: MemberRole;
};

/** A member lost the second factor that the organization requires, and keeps the role. */
export type MemberSuspendedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "member.suspended";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Cause of the event. */
    reason: "second_factor";
  };
  actor: FeedEventActor;
};

/** The members, or a page of them. */
export type MembersResponse = {
  /** Members of the organization. */
  members: Member[];
  /** Cursor of the next page. Absent on the last page, and if the response is the whole list. */
  nextCursor?: string;
};

/** Membership of a user in an organization, as services see it. */
export type Membership = {
  /** Id of the organization. */
  orgId: string;
  /** Id of the user. */
  userId: string;
  /** Role in the organization. */
  role: Role;
  /** Revision of the organization. Increases with each change. */
  orgRevision: number;
  /** Time from which the organization requires two-factor authentication. Absent if it requires none, and once that time has come. */
  secondFactorRequiredFrom?: string;
};

/** A page of the memberships. */
export type MembershipsResponse = {
  /** Memberships of this page. */
  memberships: Membership[];
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
};

/** You are not a member of this organization. */
export type NotAMemberProblem = Problem & {
  /** Stable code of the failure. */
  code: "not_a_member";
};

/** There is no such route. */
export type NotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "not_found";
};

/** The change was made. */
export type OkResponse = {
  /** Always true. */
  ok: true;
};

/** The user is an operator. */
export type OperatorProtectedProblem = Problem & {
  /** Stable code of the failure. */
  code: "operator_protected";
};

/** The user is not an operator. */
export type OperatorRequiredProblem = Problem & {
  /** Stable code of the failure. */
  code: "operator_required";
};

/** An organization. */
export type Org = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
};

/** An API key of an organization, without its text. */
export type OrgApiKey = {
  /** Id of the API key. */
  id: string;
  /** Name of the API key, which its user chose. */
  name: string;
  /** Name of the one service that the API key is for. */
  audience: string;
  /** The highest role that the API key has. */
  role: Role;
  /** Whether the API key works now. A suspended one works again if its service accepts API keys and its user is enabled and, for an organization, a member who is not suspended. */
  state: ApiKeyState;
  /** Time of creation. */
  createdAt: string;
  /** Time at which the API key expires. */
  expiresAt: string;
  /** Hour of the last use. Null if it was not used. */
  lastUsedAt: string | null;
  /** The user who made the API key, and as whom it acts. */
  user: ApiKeyUser;
};

/** The API keys of the organization, and the services that accept API keys. */
export type OrgApiKeysResponse = {
  /** API keys of the organization, latest first. */
  apiKeys: OrgApiKey[];
  /** Names of the services that accept API keys. */
  audiences: string[];
};

/** The organization after the change. */
export type OrgChangeResponse = {
  /** Number of members without two-factor authentication. Present if the request changes the requirement. */
  affected?: number;
  org: OrgWithRequirements;
};

/** An organization was created. */
export type OrgCreatedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "org.created";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    
  };
  actor: FeedEventActor;
};

/** An organization was deleted. It can be restored for a time. */
export type OrgDeletedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "org.deleted";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Present if an operator forced the change. */
    force?: true;
  };
  actor: FeedEventActor;
};

/** The deletion, and until when it can be undone. */
export type OrgDeletionResponse = {
  /** Always true. */
  ok: true;
  /** End of the time in which an owner can restore the organization. */
  purgeAt: string;
};

/** An organization with its members. */
export type OrgDetail = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
  /** Time from which members need two-factor authentication. Null if they need none. Present if the request asks for it or changes it. */
  secondFactorRequiredFrom?: string | null;
  /** Members of the organization. */
  members: Member[];
};

/** The organization with its members. */
export type OrgDetailResponse = {
  /** The organization. */
  org: OrgDetail;
};

/** An event of the audit log of an organization. */
export type OrgEvent = {
  /** Id of the event. */
  id: string;
  /** Type of the event, which decides the form of `data`. */
  type: EventType;
  /** Time of the event. */
  at: string;
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change, by which its events are ordered. Numbers may be skipped. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about no user. */
  userId: string | null;
  /** Details of the change, which depend on the type of the event. */
  data: Record<string, ((string | null) | number | boolean | string[])>;
  actor: EventActor;
};

/** A page of the audit log of the organization, latest first. */
export type OrgEventsResponse = {
  /** Cursor of the next page. Absent on the last page. A page can be shorter than `limit`, or empty, although a next page exists. */
  nextCursor?: string;
  /** Events of this page. */
  events: OrgEvent[];
};

/** A page of the members. */
export type OrgMembersResponse = {
  /** Members of the organization. */
  members: AdminMember[];
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
};

/** An organization, and the role of the user there. */
export type OrgMembership = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
  /** Role of the user. Absent from `GET /api/me` without `include=roles`. */
  role?: Role;
  /** Time at which the user joined. Absent from `GET /api/me`. */
  joinedAt?: string;
  /** Whether the user is suspended, because the organization requires two-factor authentication and the user has not turned it on. Present with `include=requirements`. */
  suspended?: boolean;
  /** Time from which the organization suspends members without two-factor authentication. Null if the organization does not require it. Present with `include=requirements`. */
  secondFactorRequiredFrom?: string | null;
  /** Time of the deletion, which only operators see. Null if the organization is not deleted. */
  deletedAt?: string | null;
};

/** A page of the organizations of the user. */
export type OrgMembershipsResponse = {
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
  /** Organizations of this page. */
  orgs: OrgMembership[];
};

/** There is no such organization. */
export type OrgNotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "org_not_found";
};

/** An operator disabled or deleted the last enabled owner. */
export type OrgOrphanedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "org.orphaned";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Cause of the event. */
    reason: "owner_disabled" | "owner_deleted";
    /** Present if an operator forced the change. */
    force: true;
  };
  actor: FeedEventActor;
};

/** A deleted organization was purged. It cannot be restored. */
export type OrgPurgedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "org.purged";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    
  };
  actor: FeedEventActor;
};

/** An organization was renamed. */
export type OrgRenamedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "org.renamed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    
  };
  actor: FeedEventActor;
};

/** The organization. */
export type OrgResponse = {
  org: Org;
};

/** A deleted organization was restored, with its members. */
export type OrgRestoredEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "org.restored";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Present if an operator forced the change. */
    force?: true;
  };
  actor: FeedEventActor;
};

/** From now on, members without two-factor authentication are suspended. Read the memberships of the organization again. */
export type OrgSecondFactorDueEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "org.second_factor_due";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    
  };
  actor: FeedEventActor;
};

/** An owner changed the time from which members need two-factor authentication. `from` is null if they need none. */
export type OrgSecondFactorRequiredEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "org.second_factor_required";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** The time. Null if there is none. */
    from: string | null;
  };
  actor: FeedEventActor;
};

/** An organization in the list of all organizations. */
export type OrgSummary = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
  /** Time of creation. */
  createdAt: string;
  /** Time of the deletion. Null if the organization is not deleted. */
  deletedAt: string | null;
  /** End of the time in which a deleted organization can be restored. Null if it is not deleted. */
  purgeAt: string | null;
};

/** An organization, and what it requires of its members. */
export type OrgWithRequirements = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
  /** Time from which members need two-factor authentication. Null if they need none. Present if the request asks for it or changes it. */
  secondFactorRequiredFrom?: string | null;
};

/** A page of the organizations. */
export type OrgsResponse = {
  /** Organizations of this page. */
  orgs: OrgSummary[];
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
  /** Value `false` if there may be more organizations: more than 50 others were found, or there are more than 100,000, of which the newest were searched. Otherwise absent. */
  complete?: boolean;
};

/** An organization that no longer has an enabled owner. */
export type OrphanedOrg = {
  /** Id of the organization. */
  id: string;
  /** Name of the organization. */
  name: string;
  /** Whether the organization was deleted, because it had no other member. */
  isDeleted: boolean;
};

/** An event of the audit log of the user. */
export type OwnEvent = {
  /** Id of the event. */
  id: string;
  /** Type of the event, which decides the form of `data`. */
  type: EventType;
  /** Time of the event. */
  at: string;
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change, by which its events are ordered. Numbers may be skipped. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about no user. */
  userId: string | null;
  /** Details of the change, which depend on the type of the event. */
  data: Record<string, ((string | null) | number | boolean | string[])>;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about no session. */
  sessionId: string | null;
  /** Id of the request in the log. Null if the event had no request. */
  requestId: string | null;
  /** The client IP address. Null if it was deleted after 90 days or belongs to another user. */
  ip: string | null;
  actor: OwnEventActor;
};

/** Who caused an event, as the user may see it. */
export type OwnEventActor = {
  /** Kind of the actor. */
  type: ActorType;
  /** Id of the user, or name of the operator. Null for Accounts itself. */
  id: string | null;
  /** Id of the session that acted. Null if it is unknown or belongs to another user. */
  sessionId: string | null;
};

/** A page of the audit log of the user, latest first. */
export type OwnEventsResponse = {
  /** Cursor of the next page. Absent on the last page. A page can be shorter than `limit`, or empty, although a next page exists. */
  nextCursor?: string;
  /** Events of this page. */
  events: OwnEvent[];
};

/** The password is known from a data breach. */
export type PasswordBreachedProblem = Problem & {
  /** Stable code of the failure. */
  code: "password_breached";
};

/** The password is one of the most common. */
export type PasswordCommonProblem = Problem & {
  /** Stable code of the failure. */
  code: "password_common";
  /** One or more invalid fields. */
  errors: FieldError[];
};

/** The organization or the profile has changed. */
export type PreconditionFailedProblem = Problem & {
  /** Stable code of the failure. */
  code: "precondition_failed";
};

/** Problem details of a failed request (RFC 9457). */
export type Problem = {
  /** Always `about:blank`. Branch on `code`. */
  type: string;
  /** Name of the HTTP status. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** Explanation of this failure, for developers. */
  detail: string;
  code: ProblemCode;
  /** Id of the request, also in the `X-Request-Id` header and in the log. */
  requestId: string;
};

/** Stable code of a failure, which programs branch on. */
export type ProblemCode = "bad_request" | "malformed_json" | "validation_failed" | "password_common" | "password_breached" | "invalid_code" | "invalid_email_code" | "invalid_invitation_code" | "invalid_provider_login" | "invalid_second_factor_code" | "second_factor_code_used" | "unsupported_grant_type" | "invalid_subject_token" | "invalid_target" | "audience_required" | "unauthorized" | "invalid_token" | "insufficient_user_authentication" | "invalid_credentials" | "invalid_refresh_token" | "invalid_challenge" | "invalid_client" | "forbidden" | "account_disabled" | "second_factor_required" | "second_factor_code_required" | "wrong_password" | "provider_login_required" | "provider_email_refused" | "network_differs" | "cross_device_login_off" | "direct_session_required" | "insufficient_scope" | "operator_required" | "registration_closed" | "email_not_verified" | "not_a_member" | "second_factor_required_by_org" | "insufficient_role" | "not_found" | "org_not_found" | "user_not_found" | "session_not_found" | "member_not_found" | "invitation_not_found" | "mail_not_found" | "key_not_found" | "service_not_found" | "provider_not_found" | "method_not_allowed" | "request_timeout" | "email_taken" | "link_required" | "identity_taken" | "second_factor_enabled" | "second_factor_not_enabled" | "verified_email_required" | "mail_unavailable" | "already_member" | "member_disabled" | "already_invited" | "invitation_ended" | "too_many_invitations" | "too_many_keys" | "too_many_orgs" | "user_has_too_many_orgs" | "last_owner" | "mail_ended" | "mail_obsolete" | "service_removed" | "operator_protected" | "cursor_expired" | "precondition_failed" | "body_too_large" | "uri_too_long" | "unsupported_media_type" | "idempotency_key_reused" | "rate_limited" | "headers_too_large" | "internal_error" | "storage_full" | "provider_unavailable" | "unavailable";

/** What a user wrote about themselves. */
export type Profile = {
  /** Name of the user. Null if there is none. */
  name: string | null;
  /** URL of a picture of the user, which Accounts does not fetch. Null if there is none. */
  avatarUrl: string | null;
  /** Language of emails to the user (BCP 47). Null if there is none. */
  locale: string | null;
};

/** The profile of the user. */
export type ProfileResponse = {
  profile: Profile;
};

/** A provider, and how many users are linked. */
export type ProviderDetails = {
  /** Name of the organization. */
  name: string;
  /** Text of the button. */
  title: string;
  /** Issuer, as in the discovery document of the provider. */
  issuer: string;
  /** Id of the client at the provider. */
  clientId: string;
  /** The URL to register at the provider. Null if `JWT_ISSUER` is not a URL. */
  redirectUri: string | null;
  /** Time of creation. */
  createdAt: string;
  /** Time at which an operator disabled the provider. Null if it is enabled. */
  disabledAt: string | null;
  /** Domains of emails that the provider speaks for. */
  domains: string[];
  /** Whether users of these domains, and users who are linked, cannot log in with a password. */
  required: boolean;
  /** Whether a login creates a user whom Accounts does not know. */
  createUsers: boolean;
  /** Whether a login links an existing user without the password. */
  linkByEmail: boolean;
  /** Whether Accounts trusts emails without `email_verified`. */
  trustEmails: boolean;
  /** Whether the browser and the program must be in one network. */
  sameNetwork: boolean;
  /** Seconds after the login at which sessions end at the latest. */
  sessionMaxAge: number;
  /** Scopes of the authorization request, separated by spaces. */
  scopes: string;
  /** Claim with the email. */
  emailClaim: string;
  /** Claim that identifies the user. */
  subjectClaim: "sub" | "oid";
  /** A claim that the ID token must have, such as `hd=acme.example`. Null if none is required. */
  require: string | null;
  /** More parameters of the authorization request. Null if there are none. */
  params: string | null;
  /** Present if Accounts cannot read the stored settings. It shows the defaults, and nobody can log in there. */
  damaged?: true;
  /** Number of users who are linked to a user of the provider. */
  users: number;
};

/** The provider confirmed no email that Accounts accepts. */
export type ProviderEmailRefusedProblem = Problem & {
  /** Stable code of the failure. */
  code: "provider_email_refused";
};

/** The user must log in at a provider. */
export type ProviderLoginRequiredProblem = Problem & {
  /** Stable code of the failure. */
  code: "provider_login_required";
  /** Name of the provider, for `POST /api/auth/providers/{name}/start`. */
  provider: string;
};

/** A login at a provider that was started. */
export type ProviderLoginStart = {
  /** URL to open in the browser of the user. */
  authorizationUrl: string;
  /** Value of `state` in the redirect. Ignore a redirect with another value. */
  state: string;
  /** Time until which the provider must send the browser back. */
  expiresAt: string;
};

/** There is no such provider. */
export type ProviderNotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "provider_not_found";
};

/** A provider and its settings, without the secret of the client. */
export type ProviderSummary = {
  /** Name of the organization. */
  name: string;
  /** Text of the button. */
  title: string;
  /** Issuer, as in the discovery document of the provider. */
  issuer: string;
  /** Id of the client at the provider. */
  clientId: string;
  /** The URL to register at the provider. Null if `JWT_ISSUER` is not a URL. */
  redirectUri: string | null;
  /** Time of creation. */
  createdAt: string;
  /** Time at which an operator disabled the provider. Null if it is enabled. */
  disabledAt: string | null;
  /** Domains of emails that the provider speaks for. */
  domains: string[];
  /** Whether users of these domains, and users who are linked, cannot log in with a password. */
  required: boolean;
  /** Whether a login creates a user whom Accounts does not know. */
  createUsers: boolean;
  /** Whether a login links an existing user without the password. */
  linkByEmail: boolean;
  /** Whether Accounts trusts emails without `email_verified`. */
  trustEmails: boolean;
  /** Whether the browser and the program must be in one network. */
  sameNetwork: boolean;
  /** Seconds after the login at which sessions end at the latest. */
  sessionMaxAge: number;
  /** Scopes of the authorization request, separated by spaces. */
  scopes: string;
  /** Claim with the email. */
  emailClaim: string;
  /** Claim that identifies the user. */
  subjectClaim: "sub" | "oid";
  /** A claim that the ID token must have, such as `hd=acme.example`. Null if none is required. */
  require: string | null;
  /** More parameters of the authorization request. Null if there are none. */
  params: string | null;
  /** Present if Accounts cannot read the stored settings. It shows the defaults, and nobody can log in there. */
  damaged?: true;
};

/** The provider does not respond. */
export type ProviderUnavailableProblem = Problem & {
  /** Stable code of the failure. */
  code: "provider_unavailable";
};

/** All providers. */
export type ProvidersResponse = {
  /** All providers in order of their names, disabled ones included. */
  providers: ProviderSummary[];
};

/** The public half of a signing key (RFC 7517 section 4, RFC 7518 section 6.2.1). */
export type PublicKey = {
  /** The x coordinate of the key in base64url. */
  x: string;
  /** The y coordinate of the key in base64url. */
  y: string;
  /** Id of the key, which access tokens name in their header. */
  kid: string;
  /** Type of the key. */
  kty: "EC";
  /** Curve of the key. */
  crv: "P-256";
  /** Algorithm of the signatures. */
  alg: "ES256";
  /** Use of the key. */
  use: "sig";
};

/** What other members see of a user. */
export type PublicProfile = {
  /** Name of the user. Null if there is none. */
  name: string | null;
  /** URL of a picture of the user, which Accounts does not fetch. Null if there is none. */
  avatarUrl: string | null;
};

/** Too many requests. */
export type RateLimitedProblem = Problem & {
  /** Stable code of the failure. */
  code: "rate_limited";
};

/** Requests are served. `degraded` parts do not stop them. */
export type Readiness = {
  /** Value `degraded` if a part is degraded. */
  status: "ok" | "degraded";
  /** Value `degraded` while this instance counts requests by itself: Redis is unreachable, or several instances have run without Redis for more than two minutes. */
  rateLimits: "ok" | "degraded";
  /** Value `degraded` while an email has been waiting for more than 10 minutes. */
  mail: "ok" | "degraded";
  /** Value `degraded` if the latest check of a password against the list of breached passwords failed. */
  breachCheck: "ok" | "degraded";
  /** Value `degraded` if running instances have had different signing keys for more than two minutes. */
  keys: "ok" | "degraded";
  /** Value `degraded` if the clock of this instance differs from the clock of the database by more than 2 seconds. */
  clock: "ok" | "degraded";
  /** Value `full` if a change failed within the last minute because the disk was full, `read_only` within the last 20 seconds because the database was read-only. Reads still work. */
  database: "full" | "read_only" | "ok";
  /** The database schema is up to date. */
  migrations: "ok";
};

/** The reason for a change by an operator. */
export type ReasonRequest = {
  /** The reason for the change, for the audit log. Only operators can read it. */
  reason: string;
};

/** The reason for a change by an operator, and whether to force it. */
export type ReasonWithForceRequest = {
  /** The reason for the change, for the audit log. Only operators can read it. */
  reason: string;
  /** Whether to continue if an organization is left without an enabled owner. The default is false: the request is rejected. */
  force?: boolean | undefined;
};

/** An invitation to the email of the user. */
export type ReceivedInvitation = {
  /** Id of the invitation. */
  id: string;
  /** Role in the organization. */
  role: "member" | "admin";
  /** Status of the invitation. */
  status: InvitationStatus;
  /** Time of creation. */
  createdAt: string;
  /** Time at which the invitation expires: seven days after its current code was created. */
  expiresAt: string;
  /** The user who created or last resent the invitation. */
  invitedBy: Inviter;
  org: Org;
  /** Name and email of the inviter. Present with `include=profile`. */
  inviter?: InviterProfile;
};

/** A page of the invitations to the user, latest first. */
export type ReceivedInvitationsResponse = {
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
  /** Invitations of this page. */
  invitations: ReceivedInvitation[];
};

/** The recovery codes, which are not shown again. */
export type RecoveryCodesResponse = {
  /** The new recovery codes. Each works once. They are not shown again. */
  recoveryCodes: string[];
};

/** Body of the operation "Refresh the access token". */
export type RefreshRequest = {
  /** The current refresh token. */
  refreshToken: string;
};

/** The new access token and the new refresh token. */
export type RefreshResponse = {
  /** The access token (JWT). Send it as `Authorization: Bearer <token>`. */
  token: string;
  /** Time at which the access token expires. */
  expiresAt: string;
  /** The new refresh token, which replaces the one in the request. */
  refreshToken: string;
};

/** Body of the operation "Register a user". */
export type RegisterRequest = {
  /** Case makes no difference. An internationalized domain is converted to its ASCII form. */
  email: string;
  /** A password of 8 to 128 characters (Unicode code points; the minimum is configurable) that is neither a common password nor the email. Every character is allowed, and spaces are kept. */
  password: string;
  /** Name of the user. Null if there is none. */
  name?: string | null | undefined;
  /** Language of emails to the user (BCP 47). Null if there is none. */
  locale?: string | null | undefined;
  /** If true, the response contains a refresh token, and access tokens expire after 15 minutes (configurable). The default is false. */
  refresh?: boolean | undefined;
  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. */
  deviceName?: string | undefined;
  /** The code of an invitation to this email, by which the user joins the organization. Null if there is none. Case, spaces and hyphens make no difference. */
  invitationCode?: string | null | undefined;
};

/** This installation does not accept the registration or email. */
export type RegistrationClosedProblem = Problem & {
  /** Stable code of the failure. */
  code: "registration_closed";
};

/** Body of the operation "Request a password reset". */
export type RequestPasswordResetRequest = {
  /** Email address, in normalized form. */
  email: string;
};

/** Body of the operation "Resend an invitation". */
export type ResendInvitationRequest = {
  /** If true, the response contains the code, which is not shown again, and no email is sent. The default is false. */
  showCode?: boolean | undefined;
};

/** The reset code, which is not shown again. */
export type ResetCodeResponse = {
  /** The reset code for `POST /api/auth/password/reset`. It is not shown again. */
  code: string;
  /** Time of expiry. */
  expiresAt: string;
};

/** Body of the operation "Reset the password". */
export type ResetPasswordRequest = {
  /** Email address, in normalized form. */
  email: string;
  /** The emailed code. Case, spaces and hyphens make no difference. */
  code: string;
  /** The new password, under the rules of registration. */
  newPassword: string;
};

/** Body of the operation "Revoke a found API key". */
export type RevokeFoundKeyRequest = {
  /** The API key, or a text with it, such as the line of the file in which it was found. */
  key: string;
};

/** Role of a member, from the fewest permissions to the most. */
export type Role = "member" | "admin" | "owner";

/** State of the database schema. */
export type SchemaStatus = {
  /** The last migration of this version. */
  migration: string;
  /** Value `newer` if an instance of a newer version has migrated the database further. */
  state: "current" | "newer";
};

/** The login needs a TOTP code or a recovery code. */
export type SecondFactorCodeRequiredProblem = Problem & {
  /** Stable code of the failure. */
  code: "second_factor_code_required";
};

/** The TOTP code was already used. */
export type SecondFactorCodeUsedProblem = Problem & {
  /** Stable code of the failure. */
  code: "second_factor_code_used";
};

/** Two-factor authentication is already on. */
export type SecondFactorEnabledProblem = Problem & {
  /** Stable code of the failure. */
  code: "second_factor_enabled";
};

/** Two-factor authentication is off. */
export type SecondFactorNotEnabledProblem = Problem & {
  /** Stable code of the failure. */
  code: "second_factor_not_enabled";
  /** Enroll by `POST /api/me/second-factor`. Present with `?remedy=true`. */
  remedy?: {
    /** What resolves the failure. */
    action: "enroll_second_factor";
  };
};

/** The organization requires two-factor authentication. */
export type SecondFactorRequiredByOrgProblem = Problem & {
  /** Stable code of the failure. */
  code: "second_factor_required_by_org";
  /** Enroll by `POST /api/me/second-factor`. Present with `?remedy=true`. */
  remedy?: {
    /** What resolves the failure. */
    action: "enroll_second_factor";
  };
};

/** The password is correct, and a second step is required. */
export type SecondFactorRequiredProblem = Problem & {
  /** Stable code of the failure. */
  code: "second_factor_required";
  /** The challenge to send with a TOTP code or a recovery code. */
  challenge: string;
  /** Time at which the challenge expires. */
  expiresAt: string;
};

/** The state of two-factor authentication. */
export type SecondFactorResponse = {
  /** Whether two-factor authentication is on. */
  enabled: boolean;
  /** Time at which two-factor authentication was turned on. Null if it is off. */
  enabledAt: string | null;
  /** Number of recovery codes that are left. */
  recoveryCodesLeft: number;
};

/** A secret of a service, without its text. */
export type SecretSummary = {
  /** Id of the secret. */
  id: string;
  /** Time of creation. */
  createdAt: string;
  /** Beginning of the hour in which the secret was last used. Null if it was never used. */
  lastUsedAt: string | null;
  /** Time of the revocation. Null if the secret is valid. */
  revokedAt: string | null;
};

/** Metadata of the authorization server (RFC 8414 section 2), as far as it applies to Accounts. */
export type ServerMetadata = {
  /** The issuer: the claim `iss` of every access token. */
  issuer: string;
  /** URL of the public signing keys. */
  jwks_uri: string;
  /** Where services get tokens for calls to other services. */
  token_endpoint: string;
  /** Grant types that the token endpoint accepts. */
  grant_types_supported: ("client_credentials" | "urn:ietf:params:oauth:grant-type:token-exchange")[];
  /** URL of token introspection. */
  introspection_endpoint: string;
  /** How services authenticate at the token endpoint. */
  token_endpoint_auth_methods_supported: "client_secret_basic"[];
  /** How services authenticate at the introspection endpoint. */
  introspection_endpoint_auth_methods_supported: "client_secret_basic"[];
};

/** The scopes of a service were changed. */
export type ServiceAllowedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.allowed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
    /** Value before the change. */
    from: string;
    /** Value after the change. */
    to: string;
  };
  actor: FeedEventActor;
};

/** An operator allowed the service to call the service `to`. */
export type ServiceCallAllowedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.call_allowed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
    /** Value after the change. */
    to: string;
  };
  actor: FeedEventActor;
};

/** An operator revoked the calls of the service to the service `to`. Reject tokens that the service got for such calls. */
export type ServiceCallRevokedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.call_revoked";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
    /** Value after the change. */
    to: string;
  };
  actor: FeedEventActor;
};

/** A service was added. */
export type ServiceCreatedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.created";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
    /** Scopes of the service, separated by commas, or `none`. */
    allow: string;
  };
  actor: FeedEventActor;
};

/** A service was disabled. Every delegated session of the service was revoked. */
export type ServiceDisabledEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.disabled";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
  };
  actor: FeedEventActor;
};

/** A service was enabled again. */
export type ServiceEnabledEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.enabled";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
  };
  actor: FeedEventActor;
};

/** There is no such service. */
export type ServiceNotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "service_not_found";
};

/** A service was removed. Every delegated session of the service was revoked. */
export type ServiceRemovedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.removed";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
  };
  actor: FeedEventActor;
};

/** The service was removed. */
export type ServiceRemovedProblem = Problem & {
  /** Stable code of the failure. */
  code: "service_removed";
};

/** What a service may do. */
export type ServiceScope = "introspect" | "memberships" | "events" | "directory" | "directory:all" | "keys";

/** A secret was added to a service. */
export type ServiceSecretAddedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.secret_added";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
    /** Id of the secret. */
    secretId: string;
  };
  actor: FeedEventActor;
};

/** A secret of a service was revoked. */
export type ServiceSecretRevokedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.secret_revoked";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
    /** Id of the secret. */
    secretId: string;
  };
  actor: FeedEventActor;
};

/** Every delegated session of the service was revoked. */
export type ServiceSessionsEndedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.sessions_ended";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
  };
  actor: FeedEventActor;
};

/** State of the installation and of the instance that responds. */
export type ServiceStatus = {
  /** Value `degraded` if a part is degraded. */
  status: "ok" | "degraded";
  /** Value `degraded` while this instance counts requests by itself: Redis is unreachable, or several instances have run without Redis for more than two minutes. */
  rateLimits: "ok" | "degraded";
  /** Value `degraded` while an email has been waiting for more than 10 minutes. */
  mail: "ok" | "degraded";
  /** Value `degraded` if the latest check of a password against the list of breached passwords failed. */
  breachCheck: "ok" | "degraded";
  /** Value `degraded` if the clock of this instance differs from the clock of the database by more than 2 seconds. */
  clock: "ok" | "degraded";
  /** Value `full` if a change failed within the last minute because the disk was full, `read_only` within the last 20 seconds because the database was read-only. Reads still work. */
  database: "full" | "read_only" | "ok";
  /** The database schema is up to date. */
  migrations: "ok";
  /** Version of Accounts. */
  version: string;
  /** Signing keys of the instance that responds, in the order of the key file. */
  keys: KeyStatus[];
  /** Value `degraded` if running instances have had different signing keys for more than two minutes. */
  keySets: "ok" | "degraded";
  engine: EngineStatus;
  schema: SchemaStatus;
  /** Emails in the queue. */
  mails: EmailsStatus;
};

/** A service in the list of all services. */
export type ServiceSummary = {
  /** Name of the service. */
  name: string;
  /** Scopes that the service is allowed. */
  allow: ServiceScope[];
  /** Time of creation. */
  createdAt: string;
  /** Time at which an operator disabled the service. Null if it is enabled. */
  disabledAt: string | null;
  /** Time of the removal. Null if the service was not removed. Names of removed services are never used again. */
  removedAt: string | null;
};

/** Body of the operation "Get a token for a call". */
export type ServiceTokenRequest = {
  /** How the service gets the token. */
  grant_type: "client_credentials" | "urn:ietf:params:oauth:grant-type:token-exchange";
  /** Name of the service to call. */
  audience: string;
  /** Access token of the user or API key, for the calling service. Required to exchange it, and rejected otherwise. */
  subject_token?: string | undefined;
  /** Required to exchange a token, and rejected otherwise. */
  subject_token_type?: "urn:ietf:params:oauth:token-type:access_token" | undefined;
  /** Optional if a token is exchanged, and rejected otherwise. */
  requested_token_type?: "urn:ietf:params:oauth:token-type:access_token" | undefined;
};

/** The access token for the call, with its lifetime in seconds. */
export type ServiceTokenResponse = {
  /** The access token for the called service. Send it as `Authorization: Bearer <token>`. */
  access_token: string;
  /** Type of the access token. */
  token_type: "Bearer";
  /** Lifetime of the access token, in seconds. It is shorter than 300 if the subject token ends before. */
  expires_in: number;
  /** Present if a token was exchanged. */
  issued_token_type?: "urn:ietf:params:oauth:token-type:access_token";
};

/** Every access token that names the service has ended. Reject tokens whose `act`, `sub` or `aud` names it. */
export type ServiceTokensEndedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "service.tokens_ended";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string | null;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Name of the service. */
    service: string;
  };
  actor: FeedEventActor;
};

/** A page of the services. */
export type ServicesResponse = {
  /** Services of this page. */
  services: ServiceSummary[];
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
};

/** A session of the user. */
export type Session = {
  /** Id of the session. */
  id: string;
  /** Value `password` if a login or registration opened the session, `code` if a one-time code did. */
  via: "password" | "code";
  /** Time of creation. */
  createdAt: string;
  /** Time of the last refresh, or of the start if there was none. */
  lastUsedAt: string;
  /** Time of expiry. */
  expiresAt: string;
  /** The client IP address that opened the session. Null if it is unknown. */
  ip: string | null;
  /** The `User-Agent` of the client that opened the session. Null if it is unknown. */
  userAgent: string | null;
  /** The name of the device, given at login. Null if none was given, or if a one-time code opened the session. */
  deviceName: string | null;
  /** Name of the service that exchanged the code with its credentials. Null if none did. */
  service: string | null;
  /** Whether this is the session of the access token. */
  current: boolean;
  /** How the user logged in. Null if a one-time code opened the session. Present with `include=login`. */
  login?: {
    /** What the user logged in with. */
    by: "password" | "provider";
    /** Name of the provider. Null if the user logged in with a password. */
    provider: string | null;
  } | null;
};

/** A session was revoked or, with `all`, all sessions of the user. Then reject access tokens with a lower `epoch` or with none, except those of the session `except`. */
export type SessionEndedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "session.ended";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string | null;
  /** Details of the change. */
  data: {
    /** Cause of the event. */
    reason: "logout" | "revoked" | "too_many" | "code_reused" | "refresh_reused" | "password_changed" | "account_disabled" | "account_deleted" | "operator";
    /** Present if all sessions of the user were revoked. */
    all?: true;
    /** Id of the one session that was not revoked. Absent if all were revoked. */
    except?: string;
    /** Session epoch of the user after the change. Absent from events of older versions. */
    epoch?: number;
  };
  actor: FeedEventActor;
};

/** You have no such session. */
export type SessionNotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "session_not_found";
};

/** A user logged in, by password or at `provider`. `newDevice` is set if the user has not used the IP network and the kind of user agent within 90 days. */
export type SessionStartedEvent = {
  /** Id of the event. */
  id: string;
  /** Time of the event. */
  at: string;
  /** Type of the event, which decides the form of `data`. */
  type: "session.started";
  /** Id of the organization that the event is about. Null if it is about none. */
  orgId: string | null;
  /** Revision of the organization after the change. Null if the event is about no organization. */
  orgRevision: number | null;
  /** Id of the user that the event is about. Null if it is about none. */
  userId: string;
  /** Revision of the user after the change. Null if the event does not change the user. */
  userRevision: number | null;
  /** Id of the session that the event is about. Null if it is about none. */
  sessionId: string;
  /** Details of the change. */
  data: {
    /** How it happened. */
    via: "register" | "login";
    /** Present if the user has not used the IP network and the kind of user agent within 90 days. */
    newDevice?: true;
    /** Name of the provider at which the user logged in. Absent for a login with a password. */
    provider?: string;
  };
  actor: FeedEventActor;
};

/** A session of a user, as operators see it. */
export type SessionSummary = {
  /** Id of the session. */
  id: string;
  /** Value `password` if a login or registration opened the session, `code` if a one-time code did. */
  via: "password" | "code";
  /** Time of creation. */
  createdAt: string;
  /** Time of the last refresh, or of the start if there was none. */
  lastUsedAt: string;
  /** Time of expiry. */
  expiresAt: string;
  /** The client IP address that opened the session. Null if it is unknown. */
  ip: string | null;
  /** The `User-Agent` of the client that opened the session. Null if it is unknown. */
  userAgent: string | null;
  /** The name of the device, given at login. Null if none was given, or if a one-time code opened the session. */
  deviceName: string | null;
  /** Name of the service that exchanged the code with its credentials. Null if none did. */
  service: string | null;
};

/** The active sessions of the user, latest first. */
export type SessionsResponse = {
  /** Active sessions, latest first. */
  sessions: Session[];
};

/** Body of the operation "Set a member's role". */
export type SetOrgMemberRoleRequest = {
  /** The reason for the change, for the audit log. Only operators can read it. */
  reason: string;
  /** Role in the organization. */
  role: Role;
};

/** Body of the operation "Start a login at a provider". */
export type StartProviderLoginRequest = {
  /** The PKCE challenge: the SHA-256 of the verifier in base64url. `finish` needs the verifier. */
  codeChallenge: string;
  /** Loopback address at which the program waits for the browser: `http://127.0.0.1` or `http://[::1]`, a port from 1024 to 65535, and a path of at most 100 characters or none. Without it, the browser shows a code to paste. */
  redirectUri?: string | undefined;
  /** Email or name that the provider may fill in. */
  loginHint?: string | undefined;
  /** Maximum number of seconds since the user authenticated at the provider. If more have passed, the provider asks again. The default is the session of the user at the provider, whatever its age. */
  maxAge?: number | undefined;
  /** Method of the PKCE challenge. Required with `codeChallenge`. */
  codeChallengeMethod: "S256";
};

/** The database has no space left. */
export type StorageFullProblem = Problem & {
  /** Stable code of the failure. */
  code: "storage_full";
};

/** The access token of a new delegated session. */
export type TokenResponse = {
  /** The access token (JWT). Send it as `Authorization: Bearer <token>`. */
  token: string;
};

/** Too many invitations of the organization are pending. */
export type TooManyInvitationsProblem = Problem & {
  /** Stable code of the failure. */
  code: "too_many_invitations";
};

/** The maximum number of API keys is reached. */
export type TooManyKeysProblem = Problem & {
  /** Stable code of the failure. */
  code: "too_many_keys";
};

/** You have reached the maximum number of organizations. */
export type TooManyOrgsProblem = Problem & {
  /** Stable code of the failure. */
  code: "too_many_orgs";
};

/** Body of the operation "Transfer an organization". */
export type TransferOrgRequest = {
  /** Id of the member who becomes owner. */
  userId: string;
  /** Whether the caller leaves the organization. The default is false: the caller becomes an admin. */
  leave?: boolean | undefined;
};

/** An access token is required. */
export type UnauthorizedProblem = Problem & {
  /** Stable code of the failure. */
  code: "unauthorized";
};

/** Accounts cannot respond right now. */
export type UnavailableProblem = Problem & {
  /** Stable code of the failure. */
  code: "unavailable";
};

/** The grant type is not supported. */
export type UnsupportedGrantTypeProblem = Problem & {
  /** Stable code of the failure. */
  code: "unsupported_grant_type";
  /** Code of RFC 6749. */
  error: "unsupported_grant_type";
};

/** The media type of the body is not supported. */
export type UnsupportedMediaTypeProblem = Problem & {
  /** Stable code of the failure. */
  code: "unsupported_media_type";
  /** Code of RFC 6749. */
  error?: "invalid_request";
};

/** Body of the operation "Change an organization". */
export type UpdateOrgRequest = {
  /** The new name, under the rules of the creation. It may be absent if `secondFactorRequiredFrom` is given. */
  name?: string | undefined;
  /** Time from which members need two-factor authentication (RFC 3339). A time that has passed takes effect immediately. Null ends the requirement. */
  secondFactorRequiredFrom?: string | null | undefined;
};

/** Body of the operation "Change the profile". */
export type UpdateProfileRequest = {
  /** Name of the user. Null if there is none. */
  name?: string | null | undefined;
  /** URL of a picture of the user, which Accounts does not fetch. Null if there is none. */
  avatarUrl?: string | null | undefined;
  /** Language of emails to the user (BCP 47). Null if there is none. */
  locale?: string | null | undefined;
};

/** The URL is too long. */
export type UriTooLongProblem = Problem & {
  /** Stable code of the failure. */
  code: "uri_too_long";
};

/** A user. */
export type User = {
  /** Id of the user. */
  id: string;
  /** Email address, in normalized form. */
  email: string;
};

/** The user whom an operator changed. */
export type UserChangeResponse = {
  /** Always true. */
  ok: true;
  /** Email of the user whom the change was about. */
  email: string;
};

/** The user belongs to too many organizations to be added to another. */
export type UserHasTooManyOrgsProblem = Problem & {
  /** Stable code of the failure. */
  code: "user_has_too_many_orgs";
};

/** There is no such user. */
export type UserNotFoundProblem = Problem & {
  /** Stable code of the failure. */
  code: "user_not_found";
};

/** A page of the organizations of the user. */
export type UserOrgsResponse = {
  /** Organizations of this page. */
  orgs: OrgMembership[];
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
};

/** The active sessions of the user, latest first. */
export type UserSessionsResponse = {
  /** Active sessions, latest first. */
  sessions: SessionSummary[];
};

/** A user in the list of all users. */
export type UserSummary = {
  /** Id of the user. */
  id: string;
  /** Email address, in normalized form. */
  email: string;
  /** Whether the email is verified. */
  emailVerified: boolean;
  /** Time of creation. */
  createdAt: string;
  /** Time at which an operator disabled the user. Null if the user is enabled. */
  disabledAt: string | null;
  /** Whether the user is an operator. */
  operator: boolean;
  /** Whether two-factor authentication is on. */
  secondFactor: boolean;
  /** Name of the user. Null if there is none. */
  name?: string | null;
  /** URL of a picture of the user, which Accounts does not fetch. Null if there is none. */
  avatarUrl?: string | null;
  /** Language of emails to the user (BCP 47). Null if there is none. */
  locale?: string | null;
};

/** A page of the users. */
export type UsersResponse = {
  /** Users of this page. */
  users: UserSummary[];
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
  /** Value `false` if there may be more users: more than 50 others were found, or there are more than 100,000, of which the newest were searched. Otherwise absent. */
  complete?: boolean;
};

/** The request has invalid fields. */
export type ValidationFailedProblem = Problem & {
  /** Stable code of the failure. */
  code: "validation_failed";
  /** Code of RFC 6749. */
  error?: "invalid_request";
  /** One or more invalid fields. */
  errors: FieldError[];
};

/** The email of the user is not verified. */
export type VerifiedEmailRequiredProblem = Problem & {
  /** Stable code of the failure. */
  code: "verified_email_required";
};

/** Body of the operation "Verify the email". */
export type VerifyEmailRequest = {
  /** The emailed code. Case, spaces and hyphens make no difference. */
  code: string;
};

/** The current password is wrong. */
export type WrongPasswordProblem = Problem & {
  /** Stable code of the failure. */
  code: "wrong_password";
};

/** Every operation of the service: what it takes, what it answers, and how it refuses. */
export interface Operations {
  /** Register a user. Creates a user with an email and a password, and opens a session. Returns an access token, and a refresh token if `refresh` is true. **Requires:** nothing. With the code of an invitation to this email, the user also joins the organization. The operator may restrict who can register: see `GET /api/auth/config`. Users of a required provider log in there, and then accept the invitation. Limit: 5 requests an hour for one email from one client IP address. */
  register: {
    input: RegisterRequest;
    data: LoginResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | PasswordCommonProblem | PasswordBreachedProblem | InvalidInvitationCodeProblem> | At<403, RegistrationClosedProblem | ProviderLoginRequiredProblem> | At<409, EmailTakenProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Log in. Authenticates a user by email and password, and opens a session. Returns an access token, and a refresh token if `refresh` is true. **Requires:** nothing. If two-factor authentication is on, login fails with `second_factor_required` and a `challenge` for `POST /api/auth/login/second-factor`. An unknown email and a wrong password return the same error. If the password is right, but the user must log in at a provider, the error names this `provider`. Limit: 10 requests in 15 minutes for one email from one client IP address. */
  login: {
    input: LoginRequest;
    data: LoginResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, InvalidCredentialsProblem> | At<403, AccountDisabledProblem | ProviderLoginRequiredProblem | SecondFactorRequiredProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Complete a login with 2FA. Completes a login with the `challenge` of its first step and a TOTP code or a recovery code. Each code works once. **Requires:** nothing. Limit: after 10 wrong TOTP codes in 15 minutes, from any IP address, only a recovery code is accepted for the rest of that time. */
  completeLogin: {
    input: CompleteLoginRequest;
    data: LoginResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, InvalidChallengeProblem> | At<403, ProviderLoginRequiredProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Refresh the access token. Returns a new access token and a new refresh token, which replaces the one in the request. **Requires:** nothing. If the response is lost, send the previous refresh token again, now or in a week: it works until one of the new tokens is used. After that, it works for 30 seconds more (configurable), for windows that refresh at once. Then Accounts assumes that it was stolen and revokes the session. A refresh that is repeated after these 30 seconds replaces the tokens whose response was lost. */
  refresh: {
    input: RefreshRequest;
    data: RefreshResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, InvalidRefreshTokenProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Log out. Revokes the session of the access token, or of the refresh token in the body, and every session that its one-time codes opened. **Requires:** an access token, or a refresh token in the body. If both tokens are sent, the access token is ignored. The access token of a delegated session revokes the whole login hand-off: the first session that a code of the login opened, and every session below it. The session of the login stays. A token that one service handed on to another cannot log out. */
  logOut: {
    input: LogoutRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InvalidRefreshTokenProblem> | At<403, InsufficientScopeProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Get the configuration for clients. Returns what a client needs to build its forms: who can register, whether users must verify their email, and the length of passwords. It may be cached for a minute. **Requires:** nothing. With `include=logins`, it also returns the providers at which users can log in, and whether users can paste a code. */
  getAuthConfig: {
    input: {
      /** If `logins`, the response contains `providers` and `crossDeviceLogin`. */
      include?: "logins"[] | undefined;
    };
    data: AuthConfigResponse;
    problem: At<400, ValidationFailedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Start a login at a provider. Returns the URL that the program opens in the browser of the user. The login is valid for 10 minutes. **Requires:** nothing. The provider sends the browser back to Accounts, which redirects it to `redirectUri` with `code` and `state`, or with `error` and `state`. Without a `redirectUri`, the browser shows the code, if `CROSS_DEVICE_LOGIN` allows it. */
  startProviderLogin: {
    input: {
      /** Name of the provider, from `GET /api/auth/config?include=logins`. */
      name: string;
    } & StartProviderLoginRequest;
    data: ProviderLoginStart;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<403, CrossDeviceLoginOffProblem> | At<404, ProviderNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem | ProviderUnavailableProblem>;
    headers: never;
  };
  /** Finish a login at a provider. Opens a session with the code of the redirect and the verifier of the start. Returns an access token, and a refresh token if `refresh` is true. **Requires:** nothing. Only success uses the code. After `link_required`, ask the user for the password once and repeat the request with `password`; after `second_factor_code_required`, repeat it with `secondFactorCode`. The code is then valid for 5 minutes from the redirect, and for 10 requests. If the response is lost, start the login again. Limit: 30 wrong codes and passwords in 15 minutes from one client IP address. */
  finishProviderLogin: {
    input: FinishProviderLoginRequest;
    data: LoginResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidProviderLoginProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<403, ProviderEmailRefusedProblem | RegistrationClosedProblem | WrongPasswordProblem | AccountDisabledProblem | SecondFactorCodeRequiredProblem> | At<409, IdentityTakenProblem | LinkRequiredProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Request a password reset. Sends a reset code to the email. The code is valid for 15 minutes. **Requires:** nothing. The response is the same if no user has the email. Limits: 3 requests in 15 minutes for one email from one client IP address. After 5 codes in a day for one client IP address, an email gets one an hour. After 10 codes for all IP addresses, it gets one in 15 minutes. */
  requestPasswordReset: {
    input: RequestPasswordResetRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<409, MailUnavailableProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Reset the password. Sets a new password by the reset code from the email or from an operator, and revokes every session of the user. A code works once. **Requires:** nothing. Limits: 10 requests in 15 minutes for one email from one client IP address, and 10,000,000 for one code. */
  resetPassword: {
    input: ResetPasswordRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | PasswordCommonProblem | PasswordBreachedProblem | InvalidEmailCodeProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Issue a one-time code. Issues a code that hands the session off to a service. Send the service the code, never the access token. **Requires:** an access token. Send an `audience`: then only that service can exchange the code, and the new access token is valid for that service alone. Without one, the token opens all routes that a delegated session can use. With a `codeChallenge` (RFC 7636), only the holder of the verifier can exchange the code. An unknown field is an error, because a misspelled one would issue a code without these bindings. */
  issueCode: {
    input: IssueCodeRequest;
    data: CodeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | AudienceRequiredProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Exchange a one-time code. Exchanges a one-time code for an access token of a delegated session. A code can be exchanged once. **Requires:** nothing, or service credentials if the code has an `audience`. A code with an `audience` needs the credentials of that service. Without them, or with those of another service, the response is `invalid_code`, and the code stays valid. A wrong secret, such as one that was cut, is `invalid_client`. Any other `Authorization` header is ignored. If the response is lost, repeat the exchange with its `Idempotency-Key` within the lifetime of a code (60 seconds by default): it returns another access token of the same session. Any other second exchange fails and revokes every delegated session of this login hand-off. The user's own session is not affected. */
  exchangeCode: {
    input: ExchangeCodeRequest;
    data: TokenResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidCodeProblem> | At<401, InvalidClientProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: "Idempotency-Key";
  };
  /** Get the current user. Returns the user and the user's organizations in order of joining. `include` adds the roles, whether the email is verified, the profile, and what the organizations require. An access token for one service gets no profile. **Requires:** an access token, which may be bound to a service. */
  getMe: {
    input: {
      /** Additional fields: `roles` adds the `role` of the user to each organization, `account` adds `emailVerified` to the user, `profile` adds the profile, and `requirements` adds `suspended` and `secondFactorRequiredFrom` to each organization. */
      include?: ("roles" | "account" | "profile" | "requirements")[] | undefined;
    };
    data: CurrentUserResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Delete the current user. Deletes the user with all memberships, sessions and codes. The audit log keeps only ids. **Requires:** a direct session (opened by a login, not by a one-time code). The only owner of an organization must first make another member an owner. The error names such organizations in `orgs`. If two-factor authentication is on, the request needs a `code`. Limit: each request counts as a login. */
  deleteAccount: {
    input: {
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the response is that of the change. The default is false. */
      dryRun?: boolean | undefined;
    } & DeleteAccountRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | DirectSessionRequiredProblem | WrongPasswordProblem> | At<409, LastOwnerProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Get the account details. Returns the state of the email and the password. `include` adds how the user can log in. **Requires:** an access token. */
  getAccount: {
    input: {
      /** If `logins`, the response contains `logins`: how the user can log in. */
      include?: "logins"[] | undefined;
    };
    data: AccountResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Get the profile. Returns what the user wrote about themselves. Send the `ETag` as `If-Match` to change the profile only if it has not changed since. **Requires:** an access token. */
  getProfile: {
    input: undefined;
    data: ProfileResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Change the profile. Changes the given fields. Null removes a field, and an absent field stays. **Requires:** an access token. Other members of the user's organizations see the name and the picture. Accounts does not check the name. */
  updateProfile: {
    input: {
      /** If true, nothing is changed, and the response is that of the change. The default is false. */
      dryRun?: boolean | undefined;
    } & UpdateProfileRequest;
    data: ProfileResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Export the user's data. Returns everything that is stored about the user: profile, organizations, sessions, audit log, emails, and invitations if the email is verified. It has no hashes, codes or secrets, and no IP addresses of other users. **Requires:** a direct session (opened by a login, not by a one-time code). The response is streamed. If its last brace is missing, it is incomplete. */
  exportData: {
    input: undefined;
    data: ExportResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Change the password. Sets a new password, also the first one. Revokes every other session, and voids codes that have not been exchanged. **Requires:** a direct session (opened by a login, not by a one-time code). If two-factor authentication is on, the request needs a `code`. Limit: each request counts as a login. */
  changePassword: {
    input: ChangePasswordRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | PasswordCommonProblem | PasswordBreachedProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem | WrongPasswordProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Request a verification code. Sends a verification code to the user's email. The code is valid for 15 minutes. **Requires:** a direct session (opened by a login, not by a one-time code). If the email is already verified, no email is sent and the status is 200. Limits: 3 requests in 15 minutes. After 5 codes in a day, the user gets one an hour. */
  requestEmailVerification: {
    input: undefined;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | DirectSessionRequiredProblem> | At<409, MailUnavailableProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Verify the email. Verifies the email by the verification code. If the code belongs to an email change, the new email takes effect. **Requires:** a direct session (opened by a login, not by a one-time code). Limits: 10 requests in 15 minutes, and 10,000,000 for one code. */
  verifyEmail: {
    input: VerifyEmailRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidEmailCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | DirectSessionRequiredProblem | RegistrationClosedProblem> | At<409, EmailTakenProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Request an email change. Sends a verification code to the new email and a notice to the old one. The email changes when the code is sent to `POST /api/me/email/verify`. The operator may restrict the domains. **Requires:** a direct session (opened by a login, not by a one-time code). A second request replaces the first. A request for the current email cancels the change. The response does not reveal whether the new email is taken. If two-factor authentication is on, the request needs a `code`. Limits: each request counts as a login. An email gets one code an hour after 5 codes of a day from one user, or 10 from all users. A user can send one code an hour after 20 codes to any emails. */
  requestEmailChange: {
    input: ChangeEmailRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | DirectSessionRequiredProblem | WrongPasswordProblem | RegistrationClosedProblem> | At<409, MailUnavailableProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Get the 2FA status. Returns whether two-factor authentication is on, since when, and how many recovery codes are left. **Requires:** an access token. */
  getSecondFactor: {
    input: undefined;
    data: SecondFactorResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Enroll an authenticator app. Returns a secret for an authenticator app. It takes effect when `POST /api/me/second-factor/confirm` gets a TOTP code within 10 minutes. Another request replaces the secret. **Requires:** a direct session (opened by a login, not by a one-time code). Limit: each request counts as a login. */
  enrollSecondFactor: {
    input: EnrollSecondFactorRequest;
    data: EnrollmentResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem | WrongPasswordProblem> | At<409, SecondFactorEnabledProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Turn on two-factor authentication. Turns on two-factor authentication by a TOTP code of the enrolled app. Returns the recovery codes, which are not shown again. **Requires:** a direct session (opened by a login, not by a one-time code). Revokes every other session. The session of the access token then counts as a login with a second factor. If this installation sends emails, the user's email must be verified. Limit: each request counts as a login. */
  confirmSecondFactor: {
    input: ConfirmSecondFactorRequest;
    data: RecoveryCodesResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<409, SecondFactorEnabledProblem | VerifiedEmailRequiredProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Renew the recovery codes. Returns ten new recovery codes, which are not shown again, and voids the previous ones. **Requires:** a direct session (opened by a login, not by a one-time code). Limit: each request counts as a login. */
  renewRecoveryCodes: {
    input: ChangeSecondFactorRequest;
    data: RecoveryCodesResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem | WrongPasswordProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Turn off two-factor authentication. Turns off two-factor authentication: a login needs no code. Revokes every other session. **Requires:** a direct session (opened by a login, not by a one-time code). An operator loses the operator grant. Limit: each request counts as a login. */
  removeSecondFactor: {
    input: ChangeSecondFactorRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidSecondFactorCodeProblem | SecondFactorCodeUsedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem | WrongPasswordProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List the sessions. Returns the active sessions of the user, latest first. `include` adds how the user logged in. **Requires:** an access token. */
  listSessions: {
    input: {
      /** If `login`, each session has a `login` with the provider, if any. */
      include?: "login"[] | undefined;
    };
    data: SessionsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Revoke the other sessions. Revokes every session of the user except the session of the access token. Its delegated sessions are revoked, too. **Requires:** a direct session (opened by a login, not by a one-time code). If `all` is true, the session of the access token is revoked as well. */
  revokeSessions: {
    input: {
      /** Whether the session of the access token is revoked, too. The default is false. */
      all?: boolean | undefined;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Revoke a session. Revokes the session and every session that its one-time codes opened. **Requires:** a direct session (opened by a login, not by a one-time code). Revoking a delegated session revokes its whole login hand-off: the first session that a code of the login opened, and every session below it. The session of the login stays. */
  revokeSession: {
    input: {
      /** Id of the session, from the list of sessions. */
      sessionId: string;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<404, SessionNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List the received invitations. Returns the pending invitations to the user's email, latest first, in pages. **Requires:** an access token. The list is empty while the email is not verified. */
  listReceivedInvitations: {
    input: {
      /** Maximum number of invitations on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
      /** If `profile`, each invitation has the name and email of the `inviter`. */
      include?: "profile"[] | undefined;
    };
    data: ReceivedInvitationsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Accept an invitation. Accepts an invitation to the user's email, and adds the user to the organization. **Requires:** a direct session (opened by a login, not by a one-time code). While the email is not verified, the request needs the code of the invitation. A code that was emailed verifies the email. Limit: 10,000,000 codes for one invitation. */
  acceptInvitation: {
    input: {
      /** Id of the invitation, from its creation or from a list of invitations. */
      invitationId: string;
    } & AnswerInvitationRequest;
    data: AcceptedResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidInvitationCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<404, InvitationNotFoundProblem> | At<409, AlreadyMemberProblem | InvitationEndedProblem | TooManyOrgsProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key";
  };
  /** Decline an invitation. Declines an invitation to the user's email. **Requires:** a direct session (opened by a login, not by a one-time code). While the email is not verified, the request needs the code of the invitation. */
  declineInvitation: {
    input: {
      /** Id of the invitation, from its creation or from a list of invitations. */
      invitationId: string;
    } & AnswerInvitationRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidInvitationCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<404, InvitationNotFoundProblem> | At<409, InvitationEndedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key";
  };
  /** Accept an invitation by code. Accepts the invitation that the code belongs to, and adds the user to the organization. **Requires:** a direct session (opened by a login, not by a one-time code). The invitation must be to the user's email, which need not be verified. A code that was emailed verifies it. Limits: 10 codes in 15 minutes, and 10,000,000 wrong ones for one invitation. */
  acceptInvitationByCode: {
    input: AnswerInvitationByCodeRequest;
    data: AcceptedResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidInvitationCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<409, AlreadyMemberProblem | InvitationEndedProblem | TooManyOrgsProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key";
  };
  /** Decline an invitation by code. Declines the invitation that the code belongs to. **Requires:** a direct session (opened by a login, not by a one-time code). The invitation must be to the user's email, which need not be verified. Limits: 10 codes in 15 minutes, and 10,000,000 wrong ones for one invitation. */
  declineInvitationByCode: {
    input: AnswerInvitationByCodeRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem | InvalidInvitationCodeProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<409, InvitationEndedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key";
  };
  /** Create an organization. Creates an organization. The user becomes its owner. **Requires:** an access token. */
  createOrg: {
    input: CreateOrgRequest;
    data: OrgResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem> | At<409, TooManyOrgsProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key";
  };
  /** Get an organization. Returns an organization and its members. Send the `ETag` as `If-Match` to change the organization only if it has not changed since. **Requires:** a member of the organization. */
  getOrg: {
    input: {
      /** If `profile`, each member has a `profile` with name and picture. If `requirements`, the organization has `secondFactorRequiredFrom`. */
      include?: ("profile" | "requirements")[] | undefined;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
    };
    data: OrgDetailResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Change an organization. Changes the name of an organization, or requires two-factor authentication of its members. Names need not be unique. **Requires:** a member of the organization with the role `admin` or `owner`. Only owners with two-factor authentication may require it, and they need a direct session (opened by a login, not by a one-time code). Members without it are suspended from `secondFactorRequiredFrom` on: they keep the membership, but can only leave. With `dryRun`, `affected` says how many members lack it. */
  updateOrg: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the response is that of the change. The default is false. */
      dryRun?: boolean | undefined;
    } & UpdateOrgRequest;
    data: OrgChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem | DirectSessionRequiredProblem> | At<404, OrgNotFoundProblem> | At<409, SecondFactorNotEnabledProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Delete an organization. Deletes an organization and revokes its pending invitations. Requests for it return 404 immediately. **Requires:** a member of the organization with the role `owner`, and a direct session (opened by a login, not by a one-time code). An owner can restore it until `purgeAt`. */
  deleteOrg: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the response is that of the change. The default is false. */
      dryRun?: boolean | undefined;
    };
    data: OrgDeletionResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem | DirectSessionRequiredProblem> | At<404, OrgNotFoundProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Restore a deleted organization. Restores an organization that the user owned, with the members who still exist. **Requires:** a direct session (opened by a login, not by a one-time code). */
  restoreOrg: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the response is that of the change. The default is false. */
      dryRun?: boolean | undefined;
    };
    data: OrgResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem | SecondFactorRequiredByOrgProblem> | At<404, OrgNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key";
  };
  /** Leave an organization. Removes the user from the organization. **Requires:** a member of the organization. The last owner cannot leave; the only member can delete the organization instead. An owner needs a direct session (opened by a login, not by a one-time code). */
  leaveOrg: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the response is that of the change. The default is false. */
      dryRun?: boolean | undefined;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | DirectSessionRequiredProblem> | At<404, OrgNotFoundProblem> | At<409, LastOwnerProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Transfer an organization. Makes another member an owner. The user becomes an admin, or leaves if `leave` is true. **Requires:** a member of the organization with the role `owner`, and a direct session (opened by a login, not by a one-time code). */
  transferOrg: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the response is that of the change. The default is false. */
      dryRun?: boolean | undefined;
    } & TransferOrgRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem | DirectSessionRequiredProblem> | At<404, OrgNotFoundProblem | MemberNotFoundProblem> | At<409, MemberDisabledProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** List the user's organizations. Returns the organizations of the user in order of joining, in pages. **Requires:** an access token, which may be bound to a service. Organizations that suspend the user are listed, too, but not for an access token for one service. */
  listOrgs: {
    input: {
      /** Maximum number of organizations on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
      /** Additional fields: `requirements` adds `suspended` and `secondFactorRequiredFrom` to each organization. */
      include?: "requirements"[] | undefined;
    };
    data: OrgMembershipsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, EmailNotVerifiedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List the deleted organizations. Returns the deleted organizations that the user can restore, in order of joining, in pages. **Requires:** an access token. */
  listDeletedOrgs: {
    input: {
      /** Maximum number of organizations on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: DeletedOrgsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List the members. Returns the members in order of joining: all of them, or pages if `limit` is given. The `Link` header names the next page. **Requires:** a member of the organization. The parameters `search`, `role` and `secondFactor` filter the list. A filtered list is ordered by email and always paged. Only admins may use `secondFactor`. */
  listMembers: {
    input: {
      /** Beginning of the emails to find, such as `gra`. The list is then ordered by email. */
      search?: string | undefined;
      /** Role of the members to find. The list is then ordered by email. The default is every role. */
      role?: Role | undefined;
      /** Lists only members without two-factor authentication, for admins. The list is then ordered by email. */
      secondFactor?: "missing" | undefined;
      /** Maximum number of members on a page. The default is 100 with `search`, `role` or `secondFactor`, else the whole list. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
      /** If `profile`, each member has a `profile` with name and picture. */
      include?: "profile"[] | undefined;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
    };
    data: MembersResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem | InsufficientScopeProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Add a member by email. Adds a registered user to the organization with a role. **Requires:** a member of the organization with the role `admin` or `owner`. Limit: 100 emails without a user an hour for one caller. */
  addMember: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    } & AddMemberRequest;
    data: MemberRoleResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem | UserNotFoundProblem> | At<409, AlreadyMemberProblem | UserHasTooManyOrgsProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Get a member. Returns a member of the organization. The id `me` stands for the caller. **Requires:** a member of the organization. */
  getMember: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** User id of the member, from the list of members, or `me`. */
      userId: string;
      /** If `profile`, each member has a `profile` with name and picture. */
      include?: "profile"[] | undefined;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    };
    data: MemberDetailResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem> | At<404, OrgNotFoundProblem | MemberNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Change a member's role. Gives a member another role. The last owner keeps the role. Only owners may change owners or appoint them, and they need a direct session (opened by a login, not by a one-time code). **Requires:** a member of the organization with the role `admin` or `owner`. */
  changeMemberRole: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** User id of the member, from the list of members. */
      userId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the response is that of the change. The default is false. */
      dryRun?: boolean | undefined;
    } & ChangeMemberRoleRequest;
    data: MemberRoleResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem | DirectSessionRequiredProblem> | At<404, OrgNotFoundProblem | MemberNotFoundProblem> | At<409, LastOwnerProblem | MemberDisabledProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Remove a member. Removes a member from the organization. The last owner cannot be removed. **Requires:** a member of the organization with the role `admin` or `owner`. Admins may remove members and admins, themselves included. Only owners may remove an owner, and they need a direct session (opened by a login, not by a one-time code). */
  removeMember: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** User id of the member, from the list of members. */
      userId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
      /** If true, nothing is changed, and the response is that of the change. The default is false. */
      dryRun?: boolean | undefined;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem | DirectSessionRequiredProblem> | At<404, OrgNotFoundProblem | MemberNotFoundProblem> | At<409, LastOwnerProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Invite a user by email. Sends an invitation code to the email, whether or not a user has it. The code is valid for seven days. If `showCode` is true, the response contains the code and no email is sent. **Requires:** a member of the organization with the role `admin` or `owner`. Limits: 25 invitations a day to one email, 5 of them by one inviter or one organization. 100 a day by one inviter or one organization to all emails. */
  createInvitation: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    } & CreateInvitationRequest;
    data: InvitationResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem> | At<409, AlreadyMemberProblem | AlreadyInvitedProblem | TooManyInvitationsProblem | MailUnavailableProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** List the invitations. Returns the invitations of the organization, latest first, in pages, without their codes. **Requires:** a member of the organization with the role `admin` or `owner`. Invitations that ended long ago are deleted. */
  listInvitations: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** Maximum number of invitations on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
      /** Status of the invitations to list. The default is every status. */
      status?: InvitationStatus | undefined;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    };
    data: InvitationsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Resend an invitation. Sends a new code for a pending or expired invitation. The code is valid for seven days, and the old code is void. The caller becomes the inviter. **Requires:** a member of the organization with the role `admin` or `owner`. Limits: those of `POST /api/orgs/{orgId}/invitations`. */
  resendInvitation: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** Id of the invitation, from its creation or from a list of invitations. */
      invitationId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    } & ResendInvitationRequest;
    data: InvitationResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem | InvitationNotFoundProblem> | At<409, InvitationEndedProblem | AlreadyMemberProblem | AlreadyInvitedProblem | TooManyInvitationsProblem | MailUnavailableProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Revoke an invitation. Revokes a pending or expired invitation. Its code is void. **Requires:** a member of the organization with the role `admin` or `owner`. */
  revokeInvitation: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** Id of the invitation, from its creation or from a list of invitations. */
      invitationId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem | InvitationNotFoundProblem> | At<409, InvitationEndedProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Revoke a found API key. Revokes the first API key that the text in the body contains, such as a line of source code. Its user gets an email, if the user's email is verified. **Requires:** nothing. The response is the same for every text, even if it contains no API key. */
  revokeFoundApiKey: {
    input: RevokeFoundKeyRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Create an organization's API key. Creates an API key, with which a program acts as the caller at one service, limited to the organization. Returns `key` only this once. **Requires:** a member of the organization with the role `admin` or `owner`, and a direct session that a login opened within the last 15 minutes (configurable). The role is at most that of the caller. The API key never has more than its user has at that moment. The caller gets an email, if the caller's email is verified. An organization can have 100 API keys. */
  createOrgApiKey: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    } & CreateApiKeyRequest;
    data: CreatedOrgApiKeyResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem> | At<409, TooManyKeysProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** List an organization's API keys. Returns the API keys of the organization, latest first, and the services that accept API keys. **Requires:** a member of the organization with the role `admin` or `owner`. */
  listOrgApiKeys: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    };
    data: OrgApiKeysResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Revoke an organization's API key. Revokes an API key of the organization, which no longer works. Admins can revoke API keys of other users. **Requires:** a member of the organization with the role `admin` or `owner`, and a direct session (opened by a login, not by a one-time code). */
  revokeOrgApiKey: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** Id of the API key, from its creation or from a list of API keys. */
      keyId: string;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem | DirectSessionRequiredProblem> | At<404, OrgNotFoundProblem | KeyNotFoundProblem> | At<412, PreconditionFailedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<422, IdempotencyKeyReusedProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: "Idempotency-Key" | "If-Match";
  };
  /** Create an API key. Creates an API key, with which a program acts as the user at one service. Returns `key` only this once. **Requires:** a direct session that a login opened within the last 15 minutes (configurable). The API key never has more than its user has at that moment. The user gets an email, if the user's email is verified. A user can have 50 API keys. */
  createApiKey: {
    input: CreateApiKeyRequest;
    data: CreatedApiKeyResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem> | At<409, TooManyKeysProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List the API keys. Returns the API keys of the user, latest first, and the services that accept API keys. An organization lists its own. **Requires:** an access token. */
  listApiKeys: {
    input: undefined;
    data: ApiKeysResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Revoke an API key. Revokes an API key of the user, which no longer works. **Requires:** a direct session (opened by a login, not by a one-time code). */
  revokeApiKey: {
    input: {
      /** Id of the API key, from its creation or from a list of API keys. */
      keyId: string;
    };
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<404, KeyNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List the organization's audit log. Returns the events of the organization, latest first, in pages. **Requires:** a member of the organization with the role `admin` or `owner`. */
  listOrgAuditEvents: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** Type of the events to list. The default is every type. The search for a page ends after five times `limit` events, so a page can be empty although a next page exists. */
      type?: EventType | undefined;
      /** Maximum number of events on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
      /** Id of the user that the events are about. The default is every user. */
      userId?: string | undefined;
      /** If true, an error suggests a fix in its member `remedy`. The default is false. */
      remedy?: boolean | undefined;
    };
    data: OrgEventsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | NotAMemberProblem | SecondFactorRequiredByOrgProblem | InsufficientRoleProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List the user's audit log. Returns the events of the user, of the user's sessions and memberships, latest first, in pages. **Requires:** a direct session (opened by a login, not by a one-time code). */
  listAuditEvents: {
    input: {
      /** Type of the events to list. The default is every type. The search for a page ends after five times `limit` events, so a page can be empty although a next page exists. */
      type?: EventType | undefined;
      /** Maximum number of events on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: OwnEventsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | DirectSessionRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List events (long polling). Returns the events that follow the cursor `after`, in the order of the feed. Events of an organization are in the order of its revisions, events of a user in the order of the user's revisions. **Requires:** service credentials with the scope `events`. Without `after`, the response contains the current cursor and no events. Get that cursor first, then read the state that you keep, then follow the feed. A page that is not full contains everything that was committed before the request. The feed skips no event and repeats none. There are no webhooks. Limit: at most 20 requests of a service wait at one process. */
  listEvents: {
    input: {
      /** Value of `next` of the previous response, or `start` for the oldest event that is kept. Without it, the response has no events, but the current cursor. */
      after?: string | undefined;
      /** Seconds to wait for an event if there is none yet. The default is 0. */
      wait?: number | undefined;
      /** Maximum number of events on a page. */
      limit?: number | undefined;
    };
    data: FeedResponse;
    problem: At<400, ValidationFailedProblem> | At<401, InvalidClientProblem> | At<403, InsufficientScopeProblem> | At<410, CursorExpiredProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Introspect a token. Returns whether an access token or an API key is still valid, and its claims (RFC 7662). With `orgId`, the response also contains the user's role in that organization. **Requires:** service credentials with the scope `introspect`. An API key is valid only for its own service, and only if that service has the scope `keys`. Returns `{"active": false}` for malformed, expired and revoked tokens, for tokens of a disabled user, and for tokens for another service. If users must verify their email, it also does for tokens of users who have not. */
  introspectToken: {
    input: IntrospectTokenRequest;
    data: IntrospectionResponse;
    problem: At<400, ValidationFailedProblem | BadRequestProblem> | At<401, InvalidClientProblem> | At<403, InsufficientScopeProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Get a token for a call. Returns an access token with which a service can call another one, for a user or for itself (RFC 6749, RFC 8693). An operator must have allowed the call. Nothing is stored, so a request can be repeated. **Requires:** service credentials. For a user, exchange an access token or an API key that is for the calling service. The new token names every service on its way, at most four, and ends with the session of the user or the API key. A token for an API key needs the scope `keys` of the called service. An access token is valid for 5 minutes, and never longer than the subject token. */
  issueServiceToken: {
    input: ServiceTokenRequest;
    data: ServiceTokenResponse;
    problem: At<400, ValidationFailedProblem | BadRequestProblem | UnsupportedGrantTypeProblem | InvalidSubjectTokenProblem | InvalidTargetProblem> | At<401, InvalidClientProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List memberships. Returns the memberships of an organization or of a user in order of joining, in pages. With both ids, the list contains at most one. **Requires:** service credentials with the scope `memberships`. Disabled users, deleted organizations, and members who lack a second factor that the organization requires, are left out. */
  listMemberships: {
    input: {
      /** Id of the organization whose memberships to list. */
      orgId?: string | undefined;
      /** Id of the user whose memberships to list. */
      userId?: string | undefined;
      /** Maximum number of memberships on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: MembershipsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, InvalidClientProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Look up users. Returns the users with these ids, in any order. Deleted users are left out. **Requires:** service credentials with the scope `directory`. */
  listDirectoryUsers: {
    input: {
      /** The ids to look up, at most 100. Repeat the parameter for each. */
      id: string[];
    };
    data: DirectoryUsersResponse;
    problem: At<400, ValidationFailedProblem> | At<401, InvalidClientProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Look up or list organizations. Returns the organizations with these ids, in any order. Deleted organizations are left out. **Requires:** service credentials with the scope `directory`. Without `id`, returns all organizations, in pages. This also requires the scope `directory:all`. */
  listDirectoryOrgs: {
    input: {
      /** The ids to look up, at most 100. Repeat the parameter for each. */
      id?: string[] | undefined;
      /** Maximum number of organizations on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: DirectoryOrgsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, InvalidClientProblem> | At<403, InsufficientScopeProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Get authorization server metadata. Returns the metadata of the issuer (RFC 8414), so that a library can find the keys. It may be cached for five minutes. **Requires:** nothing. It exists only if `JWT_ISSUER` is a URL. Its token endpoint is for services that call other services; users log in by the routes of Accounts. */
  getServerMetadata: {
    input: undefined;
    data: ServerMetadata;
    problem: At<404, NotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Get server metadata (OpenID Connect path). Returns the metadata of the authorization server at the path where OpenID Connect libraries look for it. It may be cached for five minutes. **Requires:** nothing. It exists only if `JWT_ISSUER` is a URL. Accounts is not an OpenID provider. */
  getOpenidConfiguration: {
    input: undefined;
    data: ServerMetadata;
    problem: At<404, NotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Get the public signing keys. Returns the JWK Set (RFC 7517) that verifies access tokens without a request to Accounts. It may be cached for five minutes. **Requires:** nothing. Check the algorithm ES256, the key named by `kid`, the `typ` `at+jwt`, and the claims `iss`, `aud` and `exp`. Only introspection and the event feed reveal revoked sessions. */
  getKeySet: {
    input: undefined;
    data: KeySet;
    problem: At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Check liveness. Returns 200 while the process runs. It checks nothing else, so that a database outage does not restart the process. **Requires:** nothing. */
  getLiveness: {
    input: undefined;
    data: Liveness;
    problem: At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** Check readiness. Returns 200 if the database answers, its schema is up to date, and the process is not shutting down. Returns 503 if other instances can serve and the clock of this instance is wrong by more than 15 seconds, or most instances have other signing keys. **Requires:** nothing. */
  getReadiness: {
    input: undefined;
    data: Readiness;
    problem: At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem>;
    headers: never;
  };
  /** List users. Returns all users in order of their emails, in pages. With `search`, the pages contain the users whose email begins with it. The last page ends with up to 50 others, the newest first, who have it in their email or name. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminListUsers: {
    input: {
      /** Part of the email or name of the users to find, such as `gra`. Case makes no difference: on SQLite of ASCII letters, on other databases of all letters, and accents make none either. */
      search?: string | undefined;
      /** Status of the users to find. The default is every status. The search for a page of active users ends after five times `limit` users, so a page can be short although a next page exists. */
      status?: "active" | "disabled" | undefined;
      /** Maximum number of users on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
      /** If `profile`, each user has `name`, `avatarUrl` and `locale`. */
      include?: "profile"[] | undefined;
    };
    data: UsersResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Create a user. Creates a user without a password and sends them a code by email, with which they set one within 7 days at `POST /api/auth/password/reset`. **Requires:** an operator who logged in with a second factor within the last hour (configurable). Operators can create users while the registration is closed, and with any domain. Without a mail server, the response contains the code, which is not shown again. Give it to the user. A password reset, an email change or a revocation of all sessions voids it. */
  adminCreateUser: {
    input: CreateUserRequest;
    data: CreatedUserResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<409, EmailTakenProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Get a user. Returns a user: whether the user is enabled, has two-factor authentication, and is an operator, when the user last logged in, how often a login has failed since, and whether a limit rejects logins now. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminGetUser: {
    input: {
      /** Id of the user. */
      userId: string;
      /** If `identities`, the user has `identities`: where the user can log in. */
      include?: "identities"[] | undefined;
    };
    data: AdminUserResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List a user's sessions. Returns the active sessions of a user, latest first. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminListUserSessions: {
    input: {
      /** Id of the user. */
      userId: string;
    };
    data: UserSessionsResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List a user's organizations. Returns the organizations of a user in order of joining, deleted ones included, in pages. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminListUserOrgs: {
    input: {
      /** Id of the user. */
      userId: string;
      /** Maximum number of organizations on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: UserOrgsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Disable a user. Disables a user: sessions are rejected from their next request on, and the user cannot log in. **Requires:** an operator who logged in with a second factor within the last hour (configurable). Fails with `last_owner` if the user is the only enabled owner of an organization; `orgs` lists these organizations. With `force` the user is disabled, and the response names the organizations without an enabled owner. */
  adminDisableUser: {
    input: {
      /** Id of the user. */
      userId: string;
    } & ReasonWithForceRequest;
    data: ForcedChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem | LastOwnerProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Enable a user. Enables a disabled user, who can log in again. Revoked sessions stay revoked. **Requires:** an operator who logged in with a second factor within the last hour (configurable). A user who is not disabled stays enabled. */
  adminEnableUser: {
    input: {
      /** Id of the user. */
      userId: string;
    } & ReasonRequest;
    data: UserChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Lift a user's login limits. Lifts the login limits of a user: those of logins with their email from every IP address, and the count of wrong TOTP codes. It takes effect on every instance within 5 seconds. **Requires:** an operator who logged in with a second factor within the last hour (configurable). It does not lift the limit of one IP address over all emails. An attacker who continues is limited again. */
  adminUnblockUser: {
    input: {
      /** Id of the user. */
      userId: string;
    } & ReasonRequest;
    data: UserChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Revoke a user's sessions. Revokes all sessions of a user, who can log in again. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminRevokeUserSessions: {
    input: {
      /** Id of the user. */
      userId: string;
    } & ReasonRequest;
    data: EndedSessionsResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Verify a user's email. Marks the email as verified, because the operator knows that it belongs to the user. **Requires:** an operator who logged in with a second factor within the last hour (configurable). A verified email stays verified. */
  adminVerifyUserEmail: {
    input: {
      /** Id of the user. */
      userId: string;
    } & ReasonRequest;
    data: UserChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Turn off a user's 2FA. Turns off two-factor authentication for a user who lost the second factor and whose identity you have checked. Revokes every session, and sends a notice if the email is verified. **Requires:** an operator who logged in with a second factor within the last hour (configurable). A user without two-factor authentication stays as it is. Operators are rejected: for them, use the command line, which also revokes the operator grant. */
  adminRemoveUserSecondFactor: {
    input: {
      /** Id of the user. */
      userId: string;
    } & ReasonRequest;
    data: EndedSessionsResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Issue a reset code. Returns a reset code, which is not shown again. Give it to the user, who sets a new password with it within 15 minutes. A notice is sent if the email is verified. **Requires:** an operator who logged in with a second factor within the last hour (configurable). The code does not verify the email. An email change or a revocation of all sessions voids it. */
  adminIssueResetCode: {
    input: {
      /** Id of the user. */
      userId: string;
    } & ReasonRequest;
    data: ResetCodeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem | AccountDisabledProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Delete a user. Deletes a user with all memberships, sessions and codes. The audit log keeps only ids. This cannot be undone. **Requires:** an operator who logged in with a second factor within the last hour (configurable). The only enabled owner of an organization is not deleted, and `orgs` names such organizations. With `force` the user is deleted, and the response names the organizations without an enabled owner. */
  adminDeleteUser: {
    input: {
      /** Id of the user. */
      userId: string;
    } & ReasonWithForceRequest;
    data: ForcedChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem> | At<409, OperatorProtectedProblem | LastOwnerProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List organizations. Returns all organizations in order of their names, deleted ones included, in pages. With `search`, the pages contain the organizations whose name begins with it. The last page ends with up to 50 others, the newest first, which have it in their name. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminListOrgs: {
    input: {
      /** Part of the names to find, such as `engine`. Case makes no difference: on SQLite of ASCII letters, on other databases of all letters, and accents make none either. */
      search?: string | undefined;
      /** Status of the organizations to find. The default is every status. An `ownerless` organization is not deleted and has no enabled owner. The search for a page ends after five times `limit` active organizations, or 2500 for ownerless ones, so a page can be short, or empty, although a next page exists. */
      status?: "active" | "deleted" | "ownerless" | undefined;
      /** Maximum number of organizations on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: OrgsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Get an organization as operator. Returns an organization with the number of members of each role. The organization may be deleted. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminGetOrg: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
    };
    data: AdminOrgResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List an organization's members. Returns the members in order of their emails, in pages, with whether they are disabled. `search` finds the members whose email begins with it. The organization may be deleted. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminListOrgMembers: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** Beginning of the emails to find, such as `gra`. */
      search?: string | undefined;
      /** Role of the members to find. The default is every role. */
      role?: Role | undefined;
      /** Maximum number of members on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: OrgMembersResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, OrgNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Add an owner. Makes a member an owner. The other owners stay. **Requires:** an operator who logged in with a second factor within the last hour (configurable). Users who are not members are rejected. With `force` the user is added as owner. */
  adminAddOrgOwner: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
    } & AddOrgOwnerRequest;
    data: UserChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem | OrgNotFoundProblem | MemberNotFoundProblem> | At<409, OperatorProtectedProblem | MemberDisabledProblem | UserHasTooManyOrgsProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Set a member's role. Gives a member another role. The only enabled owner stays an owner: add another one first. A disabled user does not become an owner. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminSetOrgMemberRole: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** Id of the user. */
      userId: string;
    } & SetOrgMemberRoleRequest;
    data: UserChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem | OrgNotFoundProblem | MemberNotFoundProblem> | At<409, OperatorProtectedProblem | LastOwnerProblem | MemberDisabledProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Remove a member as operator. Removes a member from the organization, and revokes the pending invitations by this member. The only enabled owner stays: add another one first. **Requires:** an operator who logged in with a second factor within the last hour (configurable). If an organization without an owner loses its last member, it is deleted. */
  adminRemoveOrgMember: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
      /** Id of the user. */
      userId: string;
    } & ReasonRequest;
    data: UserChangeResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, UserNotFoundProblem | OrgNotFoundProblem | MemberNotFoundProblem> | At<409, OperatorProtectedProblem | LastOwnerProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Restore an organization. Restores a deleted organization with the members who still exist, until its `purgeAt`. An organization that is not deleted stays as it is. **Requires:** an operator who logged in with a second factor within the last hour (configurable). An organization whose owners were deleted or disabled is rejected. With `force` it is restored. */
  adminRestoreOrg: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
    } & ReasonWithForceRequest;
    data: OrgResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, OrgNotFoundProblem> | At<409, LastOwnerProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Delete any organization. Deletes an organization and revokes its pending invitations. Requests for it return 404 immediately. **Requires:** an operator who logged in with a second factor within the last hour (configurable). An owner or an operator can restore it until `purgeAt`. A deleted organization stays deleted. */
  adminDeleteOrg: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
    } & ReasonRequest;
    data: OrgDeletionResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, OrgNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Lift the required second factor. Ends the requirement of two-factor authentication in an organization, whose owners may all be suspended by it. The organization may be deleted. **Requires:** an operator who logged in with a second factor within the last hour (configurable). An organization without the requirement stays as it is. */
  adminLiftOrgSecondFactor: {
    input: {
      /** Id of the organization, from its creation or from `GET /api/me`. */
      orgId: string;
    } & ReasonRequest;
    data: OrgResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, OrgNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List the audit log. Returns all events, latest first, in pages, with client IP addresses and the reasons that operators gave. **Requires:** an operator who logged in with a second factor within the last hour (configurable). The parameter `actorId` lists what a user or an operator did. */
  adminListAuditEvents: {
    input: {
      /** Type of the events. It needs `userId`, `orgId`, `actorId`, or at most a day between `since` and `until`. A page can be empty although a next page exists. */
      type?: EventType | undefined;
      /** Id of the user that the events are about. The user may be deleted. */
      userId?: string | undefined;
      /** Id of the organization that the events are about. It may be deleted. */
      orgId?: string | undefined;
      /** Actor of the events: `actor.id`, or an email that an operator has or had. It may be of a deleted user. */
      actorId?: string | undefined;
      /** Lists events from this time on: a time with its zone, a day in UTC, or an age such as `24h`. */
      since?: string | undefined;
      /** Lists events before this time: a time with its zone, a day in UTC, or an age such as `24h`. */
      until?: string | undefined;
      /** Maximum number of events on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
      /** If `emails`, each event has the present emails of its user and its actor. */
      include?: "emails"[] | undefined;
    };
    data: AuditEventsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List emails. Returns the emails that wait, failed or were dropped, latest first, in pages, without their texts and codes. **Requires:** an operator who logged in with a second factor within the last hour (configurable). Emails are kept for 7 days. */
  adminListEmails: {
    input: {
      /** State of the emails to list. The default is emails that wait or failed. */
      state?: EmailState | undefined;
      /** Email address of the recipient. The default is all recipients. */
      to?: string | undefined;
      /** Maximum number of emails on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: EmailsResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Send an email now. Sends an email that waits or has failed. **Requires:** an operator who logged in with a second factor within the last hour (configurable). An email is never sent if its code has expired or is void, or if its invitation has ended. */
  adminRetryEmail: {
    input: {
      /** Id of the email. */
      mailId: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, MailNotFoundProblem> | At<409, MailEndedProblem | MailObsoleteProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List services. Returns all services in order of their names, removed ones included, in pages. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminListServices: {
    input: {
      /** Maximum number of services on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: ServicesResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Get a service. Returns a service, with the services that it may call, those that may call it, and the ids and times of its secrets. The command line adds secrets. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminGetService: {
    input: {
      /** Name of the service. */
      name: string;
    };
    data: AdminServiceResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, ServiceNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Disable a service. Disables a service: its credentials are rejected from the next request on. Revokes the sessions that codes for it opened. **Requires:** an operator who logged in with a second factor within the last hour (configurable). A disabled service stays disabled. */
  adminDisableService: {
    input: {
      /** Name of the service. */
      name: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, ServiceNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Enable a service. Enables a disabled service. Revoked sessions stay revoked. **Requires:** an operator who logged in with a second factor within the last hour (configurable). A service that is not disabled stays enabled. */
  adminEnableService: {
    input: {
      /** Name of the service. */
      name: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, ServiceNotFoundProblem> | At<409, ServiceRemovedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Allow a call. Allows a service to call another one, for itself and for users whose access tokens it holds. **Requires:** an operator who logged in with a second factor within the last hour (configurable). The call has one direction, and does not include what the called service may call. An allowed call stays allowed. */
  adminAllowCall: {
    input: {
      /** Name of the service. */
      name: string;
    } & AllowCallRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, ServiceNotFoundProblem> | At<409, ServiceRemovedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Revoke a call. Revokes the calls of a service to another one from the next request on. Every access token for these calls ends, and stays ended if the call is allowed again. **Requires:** an operator who logged in with a second factor within the last hour (configurable). A call that is not allowed stays so. */
  adminRevokeCall: {
    input: {
      /** Name of the service. */
      name: string;
      /** Name of the service that is called. */
      to: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, ServiceNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List providers. Returns all providers in order of their names, disabled ones included. The command line adds and changes them. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminListProviders: {
    input: undefined;
    data: ProvidersResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Get a provider. Returns a provider, its settings, and how many users are linked. No response contains the client secret. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminGetProvider: {
    input: {
      /** Name of the provider. */
      name: string;
    };
    data: AdminProviderResponse;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, ProviderNotFoundProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Disable a provider. Disables a provider: users cannot log in there, and it requires no login any longer. Existing sessions continue. **Requires:** an operator who logged in with a second factor within the last hour (configurable). A disabled provider stays disabled. */
  adminDisableProvider: {
    input: {
      /** Name of the provider. */
      name: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, ProviderNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Enable a provider. Enables a disabled provider, without a test of it. **Requires:** an operator who logged in with a second factor within the last hour (configurable). A provider that is not disabled stays enabled. */
  adminEnableProvider: {
    input: {
      /** Name of the provider. */
      name: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, ProviderNotFoundProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** List API keys as operator. Returns the API keys of all users and organizations, latest first, in pages. One filter at most selects those of a user, of an organization or for a service. **Requires:** an operator who logged in with a second factor within the last hour (configurable). The API keys of a user include those that act as this user in organizations. */
  adminListApiKeys: {
    input: {
      /** Id of the user as whom the API keys act, in organizations too. */
      userId?: string | undefined;
      /** Id of the organization that the API keys belong to. */
      orgId?: string | undefined;
      /** Name of the service that the API keys are for. */
      audience?: string | undefined;
      /** Maximum number of API keys on a page. */
      limit?: number | undefined;
      /** Value of `nextCursor` of the previous page. The default is the first page. */
      cursor?: string | undefined;
    };
    data: AdminApiKeysResponse;
    problem: At<400, ValidationFailedProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Revoke an API key as operator. Revokes an API key of a user or of an organization for good. **Requires:** an operator who logged in with a second factor within the last hour (configurable). An own API key of an operator is protected. Only this operator and the command line can revoke it. */
  adminRevokeApiKey: {
    input: {
      /** Id of the API key, from its creation or from a list of API keys. */
      keyId: string;
    } & ReasonRequest;
    data: OkResponse;
    problem: At<400, ValidationFailedProblem | MalformedJsonProblem> | At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<404, KeyNotFoundProblem> | At<409, OperatorProtectedProblem> | At<413, BodyTooLargeProblem> | At<415, UnsupportedMediaTypeProblem> | At<429, RateLimitedProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
  /** Get the installation's status. Returns the version, the database, the signing keys, the number of emails that wait or failed, and what `GET /health/ready` returns. **Requires:** an operator who logged in with a second factor within the last hour (configurable). */
  adminGetStatus: {
    input: undefined;
    data: ServiceStatus;
    problem: At<401, UnauthorizedProblem | InvalidTokenProblem | InsufficientUserAuthenticationProblem> | At<403, InsufficientScopeProblem | EmailNotVerifiedProblem | OperatorRequiredProblem> | At<500, InternalErrorProblem> | At<503, UnavailableProblem | StorageFullProblem> | Operations["refresh"]["problem"];
    headers: never;
  };
}

/** Operators call these by `createAdminClient`. */
export type AdminOperationId = "adminListUsers" | "adminCreateUser" | "adminGetUser" | "adminListUserSessions" | "adminListUserOrgs" | "adminDisableUser" | "adminEnableUser" | "adminUnblockUser" | "adminRevokeUserSessions" | "adminVerifyUserEmail" | "adminRemoveUserSecondFactor" | "adminIssueResetCode" | "adminDeleteUser" | "adminListOrgs" | "adminGetOrg" | "adminListOrgMembers" | "adminAddOrgOwner" | "adminSetOrgMemberRole" | "adminRemoveOrgMember" | "adminRestoreOrg" | "adminDeleteOrg" | "adminLiftOrgSecondFactor" | "adminListAuditEvents" | "adminListEmails" | "adminRetryEmail" | "adminListServices" | "adminGetService" | "adminDisableService" | "adminEnableService" | "adminAllowCall" | "adminRevokeCall" | "adminListProviders" | "adminGetProvider" | "adminDisableProvider" | "adminEnableProvider" | "adminListApiKeys" | "adminRevokeApiKey" | "adminGetStatus";

/** Services call these by `createServiceClient`. */
export type ServiceOperationId = "exchangeCode" | "listEvents" | "introspectToken" | "issueServiceToken" | "listMemberships" | "listDirectoryUsers" | "listDirectoryOrgs";

export const ROUTES: Readonly<Record<keyof Operations, Route>> = {
  register: {"method":"POST","path":"/api/auth/register","body":"json","fields":["email","password","name","locale","refresh","deviceName","invitationCode"],"opensSession":true,"answer":["token","user"],"codes":"validation_failed malformed_json password_common password_breached invalid_invitation_code registration_closed provider_login_required email_taken body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  login: {"method":"POST","path":"/api/auth/login","body":"json","fields":["email","password","refresh","deviceName"],"opensSession":true,"answer":["token","user"],"codes":"validation_failed malformed_json invalid_credentials account_disabled provider_login_required second_factor_required body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  completeLogin: {"method":"POST","path":"/api/auth/login/second-factor","body":"json","fields":["challenge","code","refresh","deviceName"],"opensSession":true,"answer":["token","user"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used invalid_challenge provider_login_required body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  refresh: {"method":"POST","path":"/api/auth/refresh","body":"json","fields":["refreshToken"],"answer":["token","expiresAt","refreshToken"],"codes":"validation_failed malformed_json invalid_refresh_token body_too_large unsupported_media_type internal_error unavailable storage_full"},
  logOut: {"method":"POST","path":"/api/auth/logout","body":"json","fields":["refreshToken"],"auth":"bearer","anonymous":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token invalid_refresh_token insufficient_scope body_too_large unsupported_media_type internal_error unavailable storage_full"},
  getAuthConfig: {"method":"GET","path":"/api/auth/config","query":["include"],"repeatable":true,"answer":["registration","emailVerification","passwordMinLength","emailEnabled","issuer","tokenAudience"],"codes":"validation_failed internal_error unavailable storage_full"},
  startProviderLogin: {"method":"POST","path":"/api/auth/providers/{name}/start","body":"json","fields":["codeChallenge","redirectUri","loginHint","maxAge","codeChallengeMethod"],"answer":["authorizationUrl","state","expiresAt"],"codes":"validation_failed malformed_json cross_device_login_off provider_not_found body_too_large unsupported_media_type internal_error unavailable storage_full provider_unavailable"},
  finishProviderLogin: {"method":"POST","path":"/api/auth/providers/finish","body":"json","fields":["code","codeVerifier","refresh","deviceName","password","secondFactorCode"],"opensSession":true,"answer":["token","user"],"codes":"validation_failed malformed_json invalid_provider_login invalid_second_factor_code second_factor_code_used provider_email_refused registration_closed wrong_password account_disabled second_factor_code_required identity_taken link_required body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  requestPasswordReset: {"method":"POST","path":"/api/auth/password/forgot","body":"json","fields":["email"],"answer":["ok"],"codes":"validation_failed malformed_json mail_unavailable body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  resetPassword: {"method":"POST","path":"/api/auth/password/reset","body":"json","fields":["email","code","newPassword"],"answer":["ok"],"codes":"validation_failed malformed_json password_common password_breached invalid_email_code body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  issueCode: {"method":"POST","path":"/api/auth/code","body":"json","fields":["codeChallenge","audience","codeChallengeMethod"],"auth":"bearer","answer":["code"],"codes":"validation_failed malformed_json audience_required unauthorized invalid_token insufficient_scope email_not_verified body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  exchangeCode: {"method":"POST","path":"/api/auth/code/exchange","body":"json","fields":["code","codeVerifier"],"auth":"basic","anonymous":true,"keyed":true,"repeatable":true,"callers":"service","answer":["token"],"codes":"validation_failed malformed_json invalid_code invalid_client body_too_large unsupported_media_type internal_error unavailable storage_full"},
  getMe: {"method":"GET","path":"/api/me","query":["include"],"auth":"bearer","repeatable":true,"answer":["user","orgs"],"codes":"validation_failed unauthorized invalid_token insufficient_scope internal_error unavailable storage_full"},
  deleteAccount: {"method":"DELETE","path":"/api/me","query":["remedy","dryRun"],"body":"json","fields":["password","code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_user_authentication insufficient_scope direct_session_required wrong_password last_owner body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  getAccount: {"method":"GET","path":"/api/me/account","query":["include"],"auth":"bearer","repeatable":true,"answer":["emailVerified","createdAt","passwordChangedAt","user"],"codes":"validation_failed unauthorized invalid_token insufficient_scope internal_error unavailable storage_full"},
  getProfile: {"method":"GET","path":"/api/me/profile","auth":"bearer","repeatable":true,"answer":["profile"],"codes":"unauthorized invalid_token insufficient_scope email_not_verified internal_error unavailable storage_full"},
  updateProfile: {"method":"PATCH","path":"/api/me/profile","query":["dryRun"],"body":"json","fields":["name","avatarUrl","locale"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["profile"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  exportData: {"method":"GET","path":"/api/me/export","auth":"bearer","repeatable":true,"answer":["exportedAt","account","organizations","secondFactor","identities","apiKeys","sessions","knownPlaces","loginTrace","events","mails","invitations"],"codes":"unauthorized invalid_token insufficient_scope email_not_verified direct_session_required rate_limited internal_error unavailable storage_full"},
  changePassword: {"method":"PUT","path":"/api/me/password","body":"json","fields":["currentPassword","newPassword","code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json password_common password_breached invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified direct_session_required wrong_password body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  requestEmailVerification: {"method":"POST","path":"/api/me/email/verification","auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope direct_session_required mail_unavailable body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  verifyEmail: {"method":"POST","path":"/api/me/email/verify","body":"json","fields":["code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json invalid_email_code unauthorized invalid_token insufficient_scope direct_session_required registration_closed email_taken body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  requestEmailChange: {"method":"PUT","path":"/api/me/email","body":"json","fields":["email","password","code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_user_authentication insufficient_scope direct_session_required wrong_password registration_closed mail_unavailable body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  getSecondFactor: {"method":"GET","path":"/api/me/second-factor","auth":"bearer","repeatable":true,"answer":["enabled","enabledAt","recoveryCodesLeft"],"codes":"unauthorized invalid_token insufficient_scope email_not_verified internal_error unavailable storage_full"},
  enrollSecondFactor: {"method":"POST","path":"/api/me/second-factor","body":"json","fields":["password"],"auth":"bearer","answer":["secret","uri"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified direct_session_required wrong_password second_factor_enabled body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  confirmSecondFactor: {"method":"POST","path":"/api/me/second-factor/confirm","body":"json","fields":["code"],"auth":"bearer","answer":["recoveryCodes"],"codes":"validation_failed malformed_json invalid_second_factor_code unauthorized invalid_token insufficient_scope email_not_verified direct_session_required second_factor_enabled verified_email_required body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  renewRecoveryCodes: {"method":"POST","path":"/api/me/second-factor/recovery-codes","body":"json","fields":["password","code"],"auth":"bearer","answer":["recoveryCodes"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified direct_session_required wrong_password body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  removeSecondFactor: {"method":"POST","path":"/api/me/second-factor/remove","body":"json","fields":["password","code"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json invalid_second_factor_code second_factor_code_used unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified direct_session_required wrong_password body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  listSessions: {"method":"GET","path":"/api/me/sessions","query":["include"],"auth":"bearer","repeatable":true,"answer":["sessions"],"codes":"validation_failed unauthorized invalid_token insufficient_scope internal_error unavailable storage_full"},
  revokeSessions: {"method":"DELETE","path":"/api/me/sessions","query":["all"],"auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified direct_session_required body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  revokeSession: {"method":"DELETE","path":"/api/me/sessions/{sessionId}","auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified direct_session_required session_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  listReceivedInvitations: {"method":"GET","path":"/api/me/invitations","query":["limit","cursor","include"],"auth":"bearer","repeatable":true,"answer":["invitations"],"codes":"validation_failed unauthorized invalid_token insufficient_scope email_not_verified internal_error unavailable storage_full"},
  acceptInvitation: {"method":"POST","path":"/api/me/invitations/{invitationId}/accept","body":"json","fields":["code"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["role","org"],"codes":"validation_failed malformed_json invalid_invitation_code unauthorized invalid_token insufficient_scope email_not_verified direct_session_required invitation_not_found already_member invitation_ended too_many_orgs body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  declineInvitation: {"method":"POST","path":"/api/me/invitations/{invitationId}/decline","body":"json","fields":["code"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json invalid_invitation_code unauthorized invalid_token insufficient_scope email_not_verified direct_session_required invitation_not_found invitation_ended body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  acceptInvitationByCode: {"method":"POST","path":"/api/me/invitations/accept","body":"json","fields":["code"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["role","org"],"codes":"validation_failed malformed_json invalid_invitation_code unauthorized invalid_token insufficient_scope email_not_verified direct_session_required already_member invitation_ended too_many_orgs body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  declineInvitationByCode: {"method":"POST","path":"/api/me/invitations/decline","body":"json","fields":["code"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json invalid_invitation_code unauthorized invalid_token insufficient_scope email_not_verified direct_session_required invitation_ended body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  createOrg: {"method":"POST","path":"/api/orgs","body":"json","fields":["name"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["org"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified too_many_orgs body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  getOrg: {"method":"GET","path":"/api/orgs/{orgId}","query":["include","remedy"],"auth":"bearer","repeatable":true,"answer":["org"],"codes":"validation_failed unauthorized invalid_token email_not_verified not_a_member second_factor_required_by_org org_not_found internal_error unavailable storage_full"},
  updateOrg: {"method":"PATCH","path":"/api/orgs/{orgId}","query":["remedy","dryRun"],"body":"json","fields":["name","secondFactorRequiredFrom"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["org"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role direct_session_required org_not_found second_factor_not_enabled precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  deleteOrg: {"method":"DELETE","path":"/api/orgs/{orgId}","query":["remedy","dryRun"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok","purgeAt"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role direct_session_required org_not_found precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  restoreOrg: {"method":"POST","path":"/api/orgs/{orgId}/restore","query":["remedy","dryRun"],"auth":"bearer","keyed":true,"repeatable":true,"answer":["org"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified direct_session_required second_factor_required_by_org org_not_found body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  leaveOrg: {"method":"POST","path":"/api/orgs/{orgId}/leave","query":["remedy","dryRun"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member direct_session_required org_not_found last_owner precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  transferOrg: {"method":"POST","path":"/api/orgs/{orgId}/transfer","query":["remedy","dryRun"],"body":"json","fields":["userId","leave"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role direct_session_required org_not_found member_not_found member_disabled precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  listOrgs: {"method":"GET","path":"/api/me/orgs","query":["limit","cursor","include"],"auth":"bearer","repeatable":true,"answer":["orgs"],"codes":"validation_failed unauthorized invalid_token email_not_verified internal_error unavailable storage_full"},
  listDeletedOrgs: {"method":"GET","path":"/api/me/deleted-orgs","query":["limit","cursor"],"auth":"bearer","repeatable":true,"answer":["orgs"],"codes":"validation_failed unauthorized invalid_token insufficient_scope email_not_verified internal_error unavailable storage_full"},
  listMembers: {"method":"GET","path":"/api/orgs/{orgId}/members","query":["search","role","secondFactor","limit","cursor","include","remedy"],"auth":"bearer","repeatable":true,"answer":["members"],"codes":"validation_failed unauthorized invalid_token email_not_verified not_a_member second_factor_required_by_org insufficient_role insufficient_scope org_not_found internal_error unavailable storage_full"},
  addMember: {"method":"POST","path":"/api/orgs/{orgId}/members","query":["remedy"],"body":"json","fields":["email","role"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["member"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role org_not_found user_not_found already_member user_has_too_many_orgs precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  getMember: {"method":"GET","path":"/api/orgs/{orgId}/members/{userId}","query":["include","remedy"],"auth":"bearer","repeatable":true,"answer":["member"],"codes":"validation_failed unauthorized invalid_token email_not_verified not_a_member second_factor_required_by_org org_not_found member_not_found internal_error unavailable storage_full"},
  changeMemberRole: {"method":"PATCH","path":"/api/orgs/{orgId}/members/{userId}","query":["remedy","dryRun"],"body":"json","fields":["role"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["member"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role direct_session_required org_not_found member_not_found last_owner member_disabled precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  removeMember: {"method":"DELETE","path":"/api/orgs/{orgId}/members/{userId}","query":["remedy","dryRun"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role direct_session_required org_not_found member_not_found last_owner precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  createInvitation: {"method":"POST","path":"/api/orgs/{orgId}/invitations","query":["remedy"],"body":"json","fields":["showCode","email","role"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["invitation"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role org_not_found already_member already_invited too_many_invitations mail_unavailable precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  listInvitations: {"method":"GET","path":"/api/orgs/{orgId}/invitations","query":["limit","cursor","status","remedy"],"auth":"bearer","repeatable":true,"answer":["invitations"],"codes":"validation_failed unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role org_not_found internal_error unavailable storage_full"},
  resendInvitation: {"method":"POST","path":"/api/orgs/{orgId}/invitations/{invitationId}/resend","query":["remedy"],"body":"json","fields":["showCode"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["invitation"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role org_not_found invitation_not_found invitation_ended already_member already_invited too_many_invitations mail_unavailable precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  revokeInvitation: {"method":"DELETE","path":"/api/orgs/{orgId}/invitations/{invitationId}","query":["remedy"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role org_not_found invitation_not_found invitation_ended precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  revokeFoundApiKey: {"method":"POST","path":"/api/keys/revoke","body":"json","fields":["key"],"answer":["ok"],"codes":"validation_failed malformed_json body_too_large unsupported_media_type internal_error unavailable storage_full"},
  createOrgApiKey: {"method":"POST","path":"/api/orgs/{orgId}/keys","query":["remedy"],"body":"json","fields":["name","audience","role","expiresAt"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["apiKey"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role org_not_found too_many_keys precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  listOrgApiKeys: {"method":"GET","path":"/api/orgs/{orgId}/keys","query":["remedy"],"auth":"bearer","repeatable":true,"answer":["apiKeys","audiences"],"codes":"validation_failed unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role org_not_found internal_error unavailable storage_full"},
  revokeOrgApiKey: {"method":"DELETE","path":"/api/orgs/{orgId}/keys/{keyId}","query":["remedy"],"auth":"bearer","keyed":true,"conditional":true,"repeatable":true,"answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role direct_session_required org_not_found key_not_found precondition_failed body_too_large unsupported_media_type idempotency_key_reused rate_limited internal_error unavailable storage_full"},
  createApiKey: {"method":"POST","path":"/api/me/keys","body":"json","fields":["name","audience","role","expiresAt"],"auth":"bearer","answer":["apiKey","key"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified too_many_keys body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  listApiKeys: {"method":"GET","path":"/api/me/keys","auth":"bearer","repeatable":true,"answer":["apiKeys","audiences"],"codes":"unauthorized invalid_token insufficient_scope email_not_verified internal_error unavailable storage_full"},
  revokeApiKey: {"method":"DELETE","path":"/api/me/keys/{keyId}","auth":"bearer","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_scope email_not_verified direct_session_required key_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  listOrgAuditEvents: {"method":"GET","path":"/api/orgs/{orgId}/events","query":["type","limit","cursor","userId","remedy"],"auth":"bearer","repeatable":true,"answer":["events"],"codes":"validation_failed unauthorized invalid_token insufficient_scope email_not_verified not_a_member second_factor_required_by_org insufficient_role org_not_found internal_error unavailable storage_full"},
  listAuditEvents: {"method":"GET","path":"/api/me/events","query":["type","limit","cursor"],"auth":"bearer","repeatable":true,"answer":["events"],"codes":"validation_failed unauthorized invalid_token insufficient_scope email_not_verified direct_session_required internal_error unavailable storage_full"},
  listEvents: {"method":"GET","path":"/api/events","query":["after","wait","limit"],"auth":"basic","repeatable":true,"callers":"service","answer":["events","next"],"codes":"validation_failed invalid_client insufficient_scope cursor_expired rate_limited internal_error unavailable storage_full"},
  introspectToken: {"method":"POST","path":"/api/auth/introspect","body":"form","fields":["token","orgId","token_type_hint"],"auth":"basic","callers":"service","answer":["active"],"codes":"validation_failed bad_request invalid_client insufficient_scope body_too_large unsupported_media_type internal_error unavailable storage_full"},
  issueServiceToken: {"method":"POST","path":"/api/auth/token","body":"form","fields":["grant_type","audience","subject_token","subject_token_type","requested_token_type"],"auth":"basic","callers":"service","answer":["access_token","token_type","expires_in"],"codes":"validation_failed bad_request unsupported_grant_type invalid_subject_token invalid_target invalid_client body_too_large unsupported_media_type internal_error unavailable storage_full"},
  listMemberships: {"method":"GET","path":"/api/memberships","query":["orgId","userId","limit","cursor"],"auth":"basic","repeatable":true,"callers":"service","answer":["memberships"],"codes":"validation_failed invalid_client insufficient_scope internal_error unavailable storage_full"},
  listDirectoryUsers: {"method":"GET","path":"/api/directory/users","query":["id"],"auth":"basic","repeatable":true,"callers":"service","answer":["users"],"codes":"validation_failed invalid_client insufficient_scope internal_error unavailable storage_full"},
  listDirectoryOrgs: {"method":"GET","path":"/api/directory/orgs","query":["id","limit","cursor"],"auth":"basic","repeatable":true,"callers":"service","answer":["orgs"],"codes":"validation_failed invalid_client insufficient_scope internal_error unavailable storage_full"},
  getServerMetadata: {"method":"GET","path":"/.well-known/oauth-authorization-server","repeatable":true,"answer":["issuer","jwks_uri","token_endpoint","grant_types_supported","introspection_endpoint","token_endpoint_auth_methods_supported","introspection_endpoint_auth_methods_supported"],"codes":"not_found internal_error unavailable storage_full"},
  getOpenidConfiguration: {"method":"GET","path":"/.well-known/openid-configuration","repeatable":true,"answer":["issuer","jwks_uri","token_endpoint","grant_types_supported","introspection_endpoint","token_endpoint_auth_methods_supported","introspection_endpoint_auth_methods_supported"],"codes":"not_found internal_error unavailable storage_full"},
  getKeySet: {"method":"GET","path":"/.well-known/jwks.json","repeatable":true,"answer":["keys"],"codes":"internal_error unavailable storage_full"},
  getLiveness: {"method":"GET","path":"/health/live","repeatable":true,"answer":["status"],"codes":"internal_error unavailable storage_full"},
  getReadiness: {"method":"GET","path":"/health/ready","repeatable":true,"answer":["status","rateLimits","mail","breachCheck","keys","clock","database","migrations"],"codes":"internal_error unavailable storage_full"},
  adminListUsers: {"method":"GET","path":"/api/operators/users","query":["search","status","limit","cursor","include"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["users"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required internal_error unavailable storage_full"},
  adminCreateUser: {"method":"POST","path":"/api/operators/users","body":"json","fields":["reason","email","name","verified"],"auth":"bearer","callers":"admin","answer":["user"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required email_taken body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminGetUser: {"method":"GET","path":"/api/operators/users/{userId}","query":["include"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["user"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found internal_error unavailable storage_full"},
  adminListUserSessions: {"method":"GET","path":"/api/operators/users/{userId}/sessions","auth":"bearer","repeatable":true,"callers":"admin","answer":["sessions"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found internal_error unavailable storage_full"},
  adminListUserOrgs: {"method":"GET","path":"/api/operators/users/{userId}/orgs","query":["limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["orgs"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found internal_error unavailable storage_full"},
  adminDisableUser: {"method":"POST","path":"/api/operators/users/{userId}/disable","body":"json","fields":["reason","force"],"auth":"bearer","callers":"admin","answer":["ok","email","sessionsEnded"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found operator_protected last_owner body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminEnableUser: {"method":"POST","path":"/api/operators/users/{userId}/enable","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok","email"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminUnblockUser: {"method":"POST","path":"/api/operators/users/{userId}/unblock","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok","email"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminRevokeUserSessions: {"method":"POST","path":"/api/operators/users/{userId}/end-sessions","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok","email","sessionsEnded"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminVerifyUserEmail: {"method":"POST","path":"/api/operators/users/{userId}/verify-email","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok","email"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminRemoveUserSecondFactor: {"method":"POST","path":"/api/operators/users/{userId}/remove-second-factor","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok","email","sessionsEnded"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminIssueResetCode: {"method":"POST","path":"/api/operators/users/{userId}/reset-code","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["code","expiresAt"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required account_disabled user_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminDeleteUser: {"method":"POST","path":"/api/operators/users/{userId}/delete","body":"json","fields":["reason","force"],"auth":"bearer","callers":"admin","answer":["ok","email","sessionsEnded"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found operator_protected last_owner body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminListOrgs: {"method":"GET","path":"/api/operators/orgs","query":["search","status","limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["orgs"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required internal_error unavailable storage_full"},
  adminGetOrg: {"method":"GET","path":"/api/operators/orgs/{orgId}","auth":"bearer","repeatable":true,"callers":"admin","answer":["org"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required org_not_found internal_error unavailable storage_full"},
  adminListOrgMembers: {"method":"GET","path":"/api/operators/orgs/{orgId}/members","query":["search","role","limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["members"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required org_not_found internal_error unavailable storage_full"},
  adminAddOrgOwner: {"method":"POST","path":"/api/operators/orgs/{orgId}/owners","body":"json","fields":["reason","userId","force"],"auth":"bearer","callers":"admin","answer":["ok","email"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found org_not_found member_not_found operator_protected member_disabled user_has_too_many_orgs body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminSetOrgMemberRole: {"method":"POST","path":"/api/operators/orgs/{orgId}/members/{userId}/role","body":"json","fields":["reason","role"],"auth":"bearer","callers":"admin","answer":["ok","email"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found org_not_found member_not_found operator_protected last_owner member_disabled body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminRemoveOrgMember: {"method":"POST","path":"/api/operators/orgs/{orgId}/members/{userId}/remove","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok","email"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required user_not_found org_not_found member_not_found operator_protected last_owner body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminRestoreOrg: {"method":"POST","path":"/api/operators/orgs/{orgId}/restore","body":"json","fields":["reason","force"],"auth":"bearer","callers":"admin","answer":["org"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required org_not_found last_owner body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminDeleteOrg: {"method":"POST","path":"/api/operators/orgs/{orgId}/delete","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok","purgeAt"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required org_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminLiftOrgSecondFactor: {"method":"POST","path":"/api/operators/orgs/{orgId}/lift-second-factor","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["org"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required org_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminListAuditEvents: {"method":"GET","path":"/api/operators/events","query":["type","userId","orgId","actorId","since","until","limit","cursor","include"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["events"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required internal_error unavailable storage_full"},
  adminListEmails: {"method":"GET","path":"/api/operators/mails","query":["state","to","limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["mails"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required internal_error unavailable storage_full"},
  adminRetryEmail: {"method":"POST","path":"/api/operators/mails/{mailId}/retry","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required mail_not_found mail_ended mail_obsolete body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminListServices: {"method":"GET","path":"/api/operators/services","query":["limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["services"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required internal_error unavailable storage_full"},
  adminGetService: {"method":"GET","path":"/api/operators/services/{name}","auth":"bearer","repeatable":true,"callers":"admin","answer":["service"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required service_not_found internal_error unavailable storage_full"},
  adminDisableService: {"method":"POST","path":"/api/operators/services/{name}/disable","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required service_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminEnableService: {"method":"POST","path":"/api/operators/services/{name}/enable","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required service_not_found service_removed body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminAllowCall: {"method":"POST","path":"/api/operators/services/{name}/calls","body":"json","fields":["reason","to"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required service_not_found service_removed body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminRevokeCall: {"method":"POST","path":"/api/operators/services/{name}/calls/{to}/revoke","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required service_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminListProviders: {"method":"GET","path":"/api/operators/providers","auth":"bearer","repeatable":true,"callers":"admin","answer":["providers"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required internal_error unavailable storage_full"},
  adminGetProvider: {"method":"GET","path":"/api/operators/providers/{name}","auth":"bearer","repeatable":true,"callers":"admin","answer":["provider"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required provider_not_found internal_error unavailable storage_full"},
  adminDisableProvider: {"method":"POST","path":"/api/operators/providers/{name}/disable","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required provider_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminEnableProvider: {"method":"POST","path":"/api/operators/providers/{name}/enable","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required provider_not_found body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminListApiKeys: {"method":"GET","path":"/api/operators/keys","query":["userId","orgId","audience","limit","cursor"],"auth":"bearer","repeatable":true,"callers":"admin","answer":["apiKeys"],"codes":"validation_failed unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required internal_error unavailable storage_full"},
  adminRevokeApiKey: {"method":"POST","path":"/api/operators/keys/{keyId}/revoke","body":"json","fields":["reason"],"auth":"bearer","callers":"admin","answer":["ok"],"codes":"validation_failed malformed_json unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required key_not_found operator_protected body_too_large unsupported_media_type rate_limited internal_error unavailable storage_full"},
  adminGetStatus: {"method":"GET","path":"/api/operators/status","auth":"bearer","repeatable":true,"callers":"admin","answer":["status","rateLimits","mail","breachCheck","clock","database","migrations","version","keys","keySets","engine","schema","mails"],"codes":"unauthorized invalid_token insufficient_user_authentication insufficient_scope email_not_verified operator_required internal_error unavailable storage_full"},
};
