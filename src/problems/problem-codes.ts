interface ProblemDefinition {
  status: number;
  /** text for readers of the documentation */
  meaning: string;
  /** default text of the answer */
  detail: string;
}

/** Every error code of the service, its HTTP status and meaning; the source of the OpenAPI document. */
export const PROBLEMS = {
  bad_request: {
    status: 400,
    meaning: 'The request is malformed',
    detail: 'The request could not be understood.',
  },
  malformed_json: {
    status: 400,
    meaning: 'The body is not a JSON object',
    detail: 'The body must be a JSON object.',
  },
  validation_failed: {
    status: 400,
    meaning: 'The request has invalid fields',
    detail: 'One or more fields are invalid; see errors.',
  },
  password_common: {
    status: 400,
    meaning: 'The password is one of the most common, and nothing else is wrong',
    detail: 'This password is one of the most common; choose another.',
  },
  invalid_code: {
    status: 400,
    meaning: 'The code is not valid',
    detail:
      'The code is unknown, used, expired or for another service, or its verifier is wrong; issue a new one.',
  },
  unauthorized: {
    status: 401,
    meaning: 'A bearer token is required',
    detail: 'Send an access token: Authorization: Bearer <token>.',
  },
  invalid_token: {
    status: 401,
    meaning: 'The bearer token is not valid',
    detail: 'The access token is malformed, expired or revoked; log in again.',
  },
  insufficient_user_authentication: {
    status: 401,
    meaning: 'A recent login with a second factor is required',
    detail: 'This needs a recent login by password with a second factor; log in again.',
  },
  invalid_credentials: {
    status: 401,
    meaning: 'Wrong email or password',
    detail: 'The email or the password is wrong.',
  },
  invalid_refresh_token: {
    status: 401,
    meaning: 'The refresh token is not valid',
    detail: 'The refresh token is malformed, used or expired, or its session has ended; log in again.',
  },
  invalid_challenge: {
    status: 401,
    meaning: 'The challenge of the login is not valid',
    detail: 'The challenge is malformed or older than 5 minutes, or the account has changed; log in again.',
  },
  audience_required: {
    status: 400,
    meaning: 'A code has to name the service that it is for',
    detail: 'Send the name of the service as audience: this server issues no codes without one.',
  },
  invalid_client: {
    status: 401,
    meaning: 'The credentials of a service are required',
    detail: 'Send the name and a secret of a service: Authorization: Basic <base64 of name:secret>.',
  },
  forbidden: {
    status: 403,
    meaning: 'This is not allowed',
    detail: 'This is not allowed.',
  },
  account_disabled: {
    status: 403,
    meaning: 'The account is disabled',
    detail: 'An operator has disabled this account.',
  },
  second_factor_required: {
    status: 403,
    meaning: 'The password is right, and a second factor is required',
    detail: 'Send the challenge with a code of the second factor to /api/auth/login/second-factor.',
  },
  wrong_password: {
    status: 403,
    meaning: 'The current password is wrong',
    detail: 'The current password is wrong.',
  },
  password_session_required: {
    status: 403,
    meaning: 'A login by password is required',
    detail: 'This token comes from a one-time code; log in with the password.',
  },
  insufficient_scope: {
    status: 403,
    meaning: 'The service, or the token of a service, is not allowed this',
    detail: 'An operator has not allowed the service this.',
  },
  operator_required: {
    status: 403,
    meaning: 'This is for operators',
    detail: 'Only operators may do this.',
  },
  email_not_verified: {
    status: 403,
    meaning: 'The email is not verified',
    detail: 'Verify the email, or send the code of the invitation.',
  },
  not_a_member: {
    status: 403,
    meaning: 'You are not a member of this organization',
    detail: 'Only members of the organization may do this.',
  },
  insufficient_role: {
    status: 403,
    meaning: 'Your role does not allow this',
    detail: 'This needs the role admin; yours is member.',
  },
  not_found: {
    status: 404,
    meaning: 'There is no such route',
    detail: 'No route has this path.',
  },
  org_not_found: {
    status: 404,
    meaning: 'There is no such organization',
    detail: 'No organization has this id.',
  },
  user_not_found: {
    status: 404,
    meaning: 'There is no such user',
    detail: 'No account has this email; the user has to register first.',
  },
  session_not_found: {
    status: 404,
    meaning: 'You have no such session',
    detail: 'You have no active session with this id.',
  },
  member_not_found: {
    status: 404,
    meaning: 'There is no such member in this organization',
    detail: 'No member of this organization has this user id.',
  },
  invitation_not_found: {
    status: 404,
    meaning: 'There is no such invitation',
    detail: 'No invitation has this id, or it is for another email.',
  },
  mail_not_found: {
    status: 404,
    meaning: 'There is no such mail',
    detail: 'No mail of the last 7 days has this id.',
  },
  service_not_found: {
    status: 404,
    meaning: 'There is no such service',
    detail: 'No service has this name.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The method is not allowed here',
    detail: 'The path does not allow this method.',
  },
  request_timeout: {
    status: 408,
    meaning: 'The request took too long to arrive',
    detail: 'The request did not arrive in time.',
  },
  email_taken: {
    status: 409,
    meaning: 'The email is already registered',
    detail: 'An account with this email exists.',
  },
  second_factor_enabled: {
    status: 409,
    meaning: 'The account has a second factor already',
    detail: 'The account has a second factor; remove it before you set up another.',
  },
  verified_email_required: {
    status: 409,
    meaning: 'The email of the account is not verified',
    detail:
      'Verify your email first: POST /api/me/email/verification emails you a code for POST /api/me/email/verify.',
  },
  mail_unavailable: {
    status: 409,
    meaning: 'The service sends no mail',
    detail: 'This service has no mail server; ask its operator.',
  },
  already_member: {
    status: 409,
    meaning: 'The user is already a member',
    detail: 'The user is already a member; their role was not changed.',
  },
  member_disabled: {
    status: 409,
    meaning: 'The account of the member is disabled',
    detail: 'An operator has disabled this account, so it cannot become an owner.',
  },
  already_invited: {
    status: 409,
    meaning: 'An invitation for this email is pending',
    detail: 'An invitation for this email is pending; resend or revoke it.',
  },
  invitation_ended: {
    status: 409,
    meaning: 'The invitation has ended',
    detail: 'The invitation was accepted, declined or revoked, or has expired.',
  },
  too_many_invitations: {
    status: 409,
    meaning: 'Too many invitations of the organization are pending',
    detail: 'The organization has 1000 pending invitations, the maximum; revoke some.',
  },
  too_many_orgs: {
    status: 409,
    meaning: 'You have reached the maximum number of organizations',
    detail: 'You belong to 5000 organizations, the maximum for one user.',
  },
  user_has_too_many_orgs: {
    status: 409,
    meaning: 'The user belongs to too many organizations to be added to another',
    detail:
      'The user belongs to 4000 or more organizations, so nobody can add them to another; send an invitation.',
  },
  last_owner: {
    status: 409,
    meaning: 'An organization must keep at least one owner',
    detail: 'This user is the only owner; make another user owner first.',
  },
  mail_ended: {
    status: 409,
    meaning: 'The mail is not sent any more',
    detail: 'The mail was sent or dropped, or the code in it has expired.',
  },
  mail_obsolete: {
    status: 409,
    meaning: 'The mail is of no use any more',
    detail: 'The mail is not sent: its code was used, replaced or voided.',
  },
  service_removed: {
    status: 409,
    meaning: 'The service was removed',
    detail: 'The service was removed, for good: add one of another name.',
  },
  operator_protected: {
    status: 409,
    meaning: 'The account is that of an operator',
    detail: 'The account is that of an operator: only somebody with a shell can change it.',
  },
  cursor_expired: {
    status: 410,
    meaning: 'The cursor is too old or unknown',
    detail: 'The feed has no such event any more: take the cursor of now, and read the state again.',
  },
  precondition_failed: {
    status: 412,
    meaning: 'The organization has changed',
    detail: 'The organization has changed since you read it; read it again.',
  },
  body_too_large: {
    status: 413,
    meaning: 'The body is too large',
    detail: 'The body may have at most 16 KiB.',
  },
  uri_too_long: {
    status: 414,
    meaning: 'The URL is too long',
    detail: 'The URL may have at most 2048 characters.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body has another media type than the request takes',
    detail: 'Send the body as application/json.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'The idempotency key belongs to another request',
    detail: 'This key was sent with another request; use a new one.',
  },
  rate_limited: {
    status: 429,
    meaning: 'Too many requests',
    detail: 'You have made too many changes; wait before the next one.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The request headers are too large',
    detail: 'The request headers are too large.',
  },
  internal_error: {
    status: 500,
    meaning: 'Something went wrong',
    detail: 'Something went wrong; the log has the details under this request id.',
  },
  storage_full: {
    status: 503,
    meaning: 'The database has no space left',
    detail: 'The database has no space for this change; nothing was changed.',
  },
  unavailable: {
    status: 503,
    meaning: 'The service cannot answer right now',
    detail: 'The database cannot be reached; repeat the request.',
  },
} as const satisfies Record<string, ProblemDefinition>;

export type ProblemCode = keyof typeof PROBLEMS;
