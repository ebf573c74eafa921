export const PROBLEMS = byStatus({
  400: {
    bad_request: ['The request is malformed', 'The request could not be understood.'],
    malformed_json: ['The body is not a JSON object', 'The body must be a JSON object.'],
    validation_failed: ['The request has invalid fields', 'One or more fields are invalid; see errors.'],
    password_common: [
      'The password is one of the most common',
      'This password is one of the most common. Choose another.',
    ],
    password_breached: [
      'The password is known from a data breach',
      'This password is known from a data breach. Choose another.',
    ],
    invalid_code: [
      'The one-time code is not valid',
      'The code is unknown, used or expired, or the request lacks what the code is bound to: a secret of its service in the Authorization header, or its codeVerifier. Correct the request, or issue a new code.',
    ],
    invalid_email_code: [
      'The verification or reset code is not valid',
      'The code is wrong, used, replaced or expired. Request a new code.',
    ],
    invalid_invitation_code: [
      'The invitation code is not valid',
      'The code is wrong, used, replaced or expired, or the invitation is for another email.',
    ],
    invalid_provider_login: [
      'The login at the provider is not valid',
      'The login is unknown, used or expired, or it lacks the codeVerifier of its start. Start the login again.',
    ],
    invalid_second_factor_code: [
      'The TOTP code or recovery code is not valid',
      'The code is wrong. Send a current TOTP code or a recovery code.',
    ],
    second_factor_code_used: [
      'The TOTP code was already used',
      'This code was already used. Wait for the next code in your app.',
    ],
    unsupported_grant_type: [
      'The grant type is not supported',
      'Send grant_type=client_credentials, or the grant type of RFC 8693 to exchange the token of a user.',
    ],
    invalid_subject_token: [
      'The subject token is not valid for this exchange',
      'The subject token is malformed, expired or revoked, or it is not for this service.',
    ],
    invalid_target: [
      'The service may not call the audience',
      'The audience is not a service that this service may call here. An operator can allow the call.',
    ],
    audience_required: [
      'The one-time code must name its service',
      'Send the name of the service as audience. This installation issues no codes without one.',
    ],
  },
  401: {
    unauthorized: ['An access token is required', 'Send an access token: Authorization: Bearer <token>.'],
    invalid_token: [
      'The access token is not valid',
      'The access token is malformed, expired or revoked. Log in again.',
    ],
    insufficient_user_authentication: [
      'A recent login with two-factor authentication is required',
      'This operation requires a recent login with password and two-factor authentication. Log in again.',
    ],
    invalid_credentials: ['Wrong email or password', 'The email or the password is wrong.'],
    invalid_refresh_token: [
      'The refresh token is not valid',
      'The refresh token is malformed, used or expired, or its session has ended. Log in again.',
    ],
    invalid_challenge: [
      'The challenge of the login is not valid',
      'The challenge is malformed or older than 5 minutes, or the user has changed. Log in again.',
    ],
    invalid_client: [
      'The credentials of a service are required',
      'Send the name and a secret of a service: Authorization: Basic <base64 of name:secret>.',
    ],
  },
  403: {
    forbidden: ['The request is not allowed', 'The request is not allowed.'],
    account_disabled: ['The user is disabled', 'An operator has disabled this user.'],
    second_factor_required: [
      'The password is correct, and a second step is required',
      'Send the challenge with a TOTP code or a recovery code to /api/auth/login/second-factor.',
    ],
    second_factor_code_required: [
      'The login needs a TOTP code or a recovery code',
      'The user has two-factor authentication. Repeat the request with a secondFactorCode.',
    ],
    wrong_password: ['The current password is wrong', 'The current password is wrong.'],
    provider_login_required: [
      'The user must log in at a provider',
      'This user logs in at the provider of the company, not with a password.',
    ],
    provider_email_refused: [
      'The provider confirmed no email that Accounts accepts',
      'The provider named no email, one of a domain that it does not speak for, or one that it has not verified.',
    ],
    network_differs: [
      'The browser and the program are in different networks',
      'The browser and the program must be in the same network.',
    ],
    cross_device_login_off: [
      'Codes that users copy from another program are off',
      'This installation accepts no codes from another program. Start the login with a redirectUri.',
    ],
    direct_session_required: [
      'A login on this device is required',
      'A session that a one-time code opened may not do this. Log in on this device.',
    ],
    insufficient_scope: [
      'The service, or the access token of a service, lacks a scope',
      'The service does not have the scope that this operation requires.',
    ],
    operator_required: ['The user is not an operator', 'Only operators may do this.'],
    registration_closed: [
      'This installation does not accept the registration or email',
      'Only operators create users here. Ask the operator of this installation for an account.',
    ],
    email_not_verified: ['The email is not verified', 'Verify your email, or send the invitation code.'],
    not_a_member: [
      'You are not a member of this organization',
      'Only members of the organization may do this.',
    ],
    second_factor_required_by_org: [
      'The organization requires two-factor authentication',
      'This organization requires two-factor authentication. Turn it on to continue.',
    ],
    insufficient_role: ['Your role does not allow this', 'This needs the role admin; yours is member.'],
  },
  404: {
    not_found: ['There is no such route', 'No route has this path.'],
    org_not_found: ['There is no such organization', 'No organization has this id.'],
    user_not_found: ['There is no such user', 'No user has this email. The user must register first.'],
    session_not_found: ['You have no such session', 'You have no active session with this id.'],
    member_not_found: [
      'There is no such member in this organization',
      'No member of this organization has this user id.',
    ],
    invitation_not_found: [
      'There is no such invitation',
      'No invitation has this id, or it is for another email.',
    ],
    mail_not_found: ['There is no such email', 'No email of the last 7 days has this id.'],
    key_not_found: ['There is no such API key', 'No API key has this id, or it is not yours.'],
    service_not_found: ['There is no such service', 'No service has this name.'],
    provider_not_found: ['There is no such provider', 'No provider has this name, or it is disabled.'],
  },
  405: { method_not_allowed: ['The method is not allowed here', 'The path does not allow this method.'] },
  408: { request_timeout: ['The request took too long to arrive', 'The request did not arrive in time.'] },
  409: {
    email_taken: ['The email is already registered', 'A user with this email already exists.'],
    link_required: [
      'A user with this email exists and must link the login',
      'A user with this email exists. Repeat the request with the password of the user.',
    ],
    identity_taken: [
      'The user is linked to another user of the provider',
      'The user with this email is linked to another user of the provider. Ask the operator of this installation.',
    ],
    second_factor_enabled: [
      'Two-factor authentication is already on',
      'Two-factor authentication is already on. Turn it off before you enroll again.',
    ],
    second_factor_not_enabled: [
      'Two-factor authentication is off',
      'Turn on two-factor authentication for yourself before you require it of others.',
    ],
    verified_email_required: [
      'The email of the user is not verified',
      'Verify your email first. POST /api/me/email/verification sends a code for POST /api/me/email/verify.',
    ],
    mail_unavailable: ['Accounts sends no emails', 'This installation has no mail server. Ask its operator.'],
    already_member: [
      'The user is already a member',
      'The user is already a member. Their role was not changed.',
    ],
    member_disabled: [
      'The member is disabled',
      'An operator has disabled this user, so the user cannot become an owner.',
    ],
    already_invited: [
      'An invitation for this email is pending',
      'An invitation for this email is pending. Resend or revoke it.',
    ],
    invitation_ended: [
      'The invitation has ended',
      'The invitation was accepted, declined or revoked, has expired, or its inviter may not invite now.',
    ],
    too_many_invitations: [
      'Too many invitations of the organization are pending',
      'The organization has 1,000 pending invitations, the maximum. Revoke some.',
    ],
    too_many_keys: [
      'The maximum number of API keys is reached',
      'A user has at most 50 own API keys, an organization 100. Revoke some.',
    ],
    too_many_orgs: [
      'You have reached the maximum number of organizations',
      'You belong to 500 organizations, the maximum for one user.',
    ],
    user_has_too_many_orgs: [
      'The user belongs to too many organizations to be added to another',
      'The user belongs to 400 or more organizations and must join others by invitation. Send one.',
    ],
    last_owner: [
      'An organization must keep at least one owner',
      'This user is the only owner. Make another user an owner first.',
    ],
    mail_ended: [
      'The email cannot be sent again',
      'The email was sent or dropped, or the code in it has expired.',
    ],
    mail_obsolete: [
      'The code in the email is no longer valid',
      'The email is not sent: its code was used, replaced or voided.',
    ],
    service_removed: [
      'The service was removed',
      'The service was removed for good. Add a service with another name.',
    ],
    operator_protected: [
      'The user is an operator',
      'The user is an operator. Only the command line can change an operator.',
    ],
  },
  410: {
    cursor_expired: [
      'The cursor is too old or unknown',
      'The event feed no longer has this event. Start over: get the current cursor, then read the state again.',
    ],
  },
  412: {
    precondition_failed: [
      'The organization or the profile has changed',
      'The organization has changed since you read it. Read it again.',
    ],
  },
  413: { body_too_large: ['The body is too large', 'The body may have at most 16 KiB.'] },
  414: { uri_too_long: ['The URL is too long', 'The URL may have at most 2048 characters.'] },
  415: {
    unsupported_media_type: [
      'The media type of the body is not supported',
      'Send the body as application/json.',
    ],
  },
  422: {
    idempotency_key_reused: [
      'The idempotency key belongs to another request',
      'This key was sent with another request. Use a new key.',
    ],
  },
  429: { rate_limited: ['Too many requests', 'You have made too many changes; wait before the next one.'] },
  431: { headers_too_large: ['The request headers are too large', 'The request headers are too large.'] },
  500: {
    internal_error: [
      'Something went wrong',
      'Something went wrong. The log has the details under this request id.',
    ],
  },
  503: {
    storage_full: [
      'The database has no space left',
      'The database has no space for this change. Nothing was changed.',
    ],
    provider_unavailable: [
      'The provider does not respond',
      'The provider does not respond. Try again later.',
    ],
    unavailable: ['Accounts cannot respond right now', 'The database cannot be reached. Repeat the request.'],
  },
});

export type ProblemCode = keyof typeof PROBLEMS;

type Texts = [meaning: string, detail: string];
type CodeIn<Table> = { [Status in keyof Table]: keyof Table[Status] & string }[keyof Table];

function byStatus<Table extends Record<number, Record<string, Texts>>>(
  table: Table,
): Record<CodeIn<Table>, { status: number; meaning: string; detail: string }> {
  return Object.fromEntries(
    Object.entries(table).flatMap(([status, codes]) =>
      Object.entries(codes).map(([code, [meaning, detail]]) => [
        code,
        { status: Number(status), meaning, detail },
      ]),
    ),
  ) as ReturnType<typeof byStatus<Table>>;
}
