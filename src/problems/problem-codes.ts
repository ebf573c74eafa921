export const PROBLEMS = byStatus({
  400: {
    bad_request: ['The request is malformed', 'The request could not be understood.'],
    malformed_json: ['The body is not a JSON object', 'The body must be a JSON object.'],
    validation_failed: ['The request has invalid fields', 'One or more fields are invalid; see errors.'],
    password_common: [
      'The password is one of the most common, and nothing else is wrong',
      'This password is one of the most common; choose another.',
    ],
    invalid_code: [
      'The one-time code is not valid',
      'The code is unknown, used, expired or for another service, or its verifier is wrong; issue a new one.',
    ],
    invalid_email_code: [
      'The emailed code is not valid',
      'The code is wrong, used, replaced or expired; request a new one.',
    ],
    invalid_invitation_code: [
      'The invitation code is not valid',
      'The code is wrong, used, replaced or expired, or the invitation is for another email.',
    ],
    invalid_second_factor_code: [
      'The code of the second factor is not valid',
      'The code is wrong; send a current code of the app, or a recovery code.',
    ],
    second_factor_code_used: [
      'The TOTP code was already used',
      'This code was already used. Wait for the next code in your app.',
    ],
    audience_required: [
      'A code has to name the service that it is for',
      'Send the name of the service as audience: this server issues no codes without one.',
    ],
  },
  401: {
    unauthorized: ['A bearer token is required', 'Send an access token: Authorization: Bearer <token>.'],
    invalid_token: [
      'The bearer token is not valid',
      'The access token is malformed, expired or revoked; log in again.',
    ],
    insufficient_user_authentication: [
      'A recent login with a second factor is required',
      'This needs a recent login by password with a second factor; log in again.',
    ],
    invalid_credentials: ['Wrong email or password', 'The email or the password is wrong.'],
    invalid_refresh_token: [
      'The refresh token is not valid',
      'The refresh token is malformed, used or expired, or its session has ended; log in again.',
    ],
    invalid_challenge: [
      'The challenge of the login is not valid',
      'The challenge is malformed or older than 5 minutes, or the account has changed; log in again.',
    ],
    invalid_client: [
      'The credentials of a service are required',
      'Send the name and a secret of a service: Authorization: Basic <base64 of name:secret>.',
    ],
  },
  403: {
    forbidden: ['This is not allowed', 'This is not allowed.'],
    account_disabled: ['The account is disabled', 'An operator has disabled this account.'],
    second_factor_required: [
      'The password is right, and a second factor is required',
      'Send the challenge with a code of the second factor to /api/auth/login/second-factor.',
    ],
    wrong_password: ['The current password is wrong', 'The current password is wrong.'],
    step_up_required: [
      'A login by password is required',
      'This token comes from a one-time code; log in with the password.',
    ],
    insufficient_scope: [
      'The service, or the token of a service, is not allowed this',
      'An operator has not allowed the service this.',
    ],
    operator_required: ['This is for operators', 'Only operators may do this.'],
    email_not_verified: [
      'The email is not verified',
      'Verify the email, or send the code of the invitation.',
    ],
    not_a_member: [
      'You are not a member of this organization',
      'Only members of the organization may do this.',
    ],
    insufficient_role: ['Your role does not allow this', 'This needs the role admin; yours is member.'],
  },
  404: {
    not_found: ['There is no such route', 'No route has this path.'],
    org_not_found: ['There is no such organization', 'No organization has this id.'],
    user_not_found: ['There is no such user', 'No account has this email; the user has to register first.'],
    session_not_found: ['You have no such session', 'You have no active session with this id.'],
    member_not_found: [
      'There is no such member in this organization',
      'No member of this organization has this user id.',
    ],
    invitation_not_found: [
      'There is no such invitation',
      'No invitation has this id, or it is for another email.',
    ],
    mail_not_found: ['There is no such mail', 'No mail of the last 7 days has this id.'],
    service_not_found: ['There is no such service', 'No service has this name.'],
  },
  405: { method_not_allowed: ['The method is not allowed here', 'The path does not allow this method.'] },
  408: { request_timeout: ['The request took too long to arrive', 'The request did not arrive in time.'] },
  409: {
    email_taken: ['The email is already registered', 'An account with this email exists.'],
    second_factor_enabled: [
      'The account has a second factor already',
      'The account has a second factor; remove it before you set up another.',
    ],
    verified_email_required: [
      'The email of the account is not verified',
      'Verify your email first: POST /api/me/email/verification emails you a code for POST /api/me/email/verify.',
    ],
    mail_unavailable: ['The service sends no mail', 'This service has no mail server; ask its operator.'],
    already_member: [
      'The user is already a member',
      'The user is already a member; their role was not changed.',
    ],
    member_disabled: [
      'The account of the member is disabled',
      'An operator has disabled this account, so it cannot become an owner.',
    ],
    already_invited: [
      'An invitation for this email is pending',
      'An invitation for this email is pending; resend or revoke it.',
    ],
    invitation_ended: [
      'The invitation has ended',
      'The invitation was accepted, declined or revoked, or has expired.',
    ],
    too_many_invitations: [
      'Too many invitations of the organization are pending',
      'The organization has 1000 pending invitations, the maximum; revoke some.',
    ],
    too_many_orgs: [
      'You have reached the maximum number of organizations',
      'You belong to 5000 organizations, the maximum for one user.',
    ],
    user_has_too_many_orgs: [
      'The user belongs to too many organizations to be added to another',
      'The user belongs to 4000 or more organizations, so nobody can add them to another; send an invitation.',
    ],
    last_owner: [
      'An organization must keep at least one owner',
      'This user is the only owner; make another user owner first.',
    ],
    mail_ended: [
      'The mail is not sent any more',
      'The mail was sent or dropped, or the code in it has expired.',
    ],
    mail_obsolete: [
      'The mail is of no use any more',
      'The mail is not sent: its code was used, replaced or voided.',
    ],
    service_removed: [
      'The service was removed',
      'The service was removed, for good: add one of another name.',
    ],
    operator_protected: [
      'The account is that of an operator',
      'The account is that of an operator: only somebody with a shell can change it.',
    ],
  },
  410: {
    cursor_expired: [
      'The cursor is too old or unknown',
      'The feed has no such event any more: take the cursor of now, and read the state again.',
    ],
  },
  412: {
    precondition_failed: [
      'The organization has changed',
      'The organization has changed since you read it; read it again.',
    ],
  },
  413: { body_too_large: ['The body is too large', 'The body may have at most 16 KiB.'] },
  414: { uri_too_long: ['The URL is too long', 'The URL may have at most 2048 characters.'] },
  415: {
    unsupported_media_type: [
      'The body has another media type than the request takes',
      'Send the body as application/json.',
    ],
  },
  422: {
    idempotency_key_reused: [
      'The idempotency key belongs to another request',
      'This key was sent with another request; use a new one.',
    ],
  },
  429: { rate_limited: ['Too many requests', 'You have made too many changes; wait before the next one.'] },
  431: { headers_too_large: ['The request headers are too large', 'The request headers are too large.'] },
  500: {
    internal_error: [
      'Something went wrong',
      'Something went wrong; the log has the details under this request id.',
    ],
  },
  503: {
    storage_full: [
      'The database has no space left',
      'The database has no space for this change; nothing was changed.',
    ],
    unavailable: [
      'The service cannot answer right now',
      'The database cannot be reached; repeat the request.',
    ],
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
