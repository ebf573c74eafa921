import { expect } from 'vitest';

export interface ExpectedProblem {
  status: number;
  body: object;
}

/** Errors are recognized by status and `code`; their texts may change. */
function problem(status: number, code: string, more: object = {}): ExpectedProblem {
  return { status, body: { status, code, ...more } };
}

export const malformedJson = problem(400, 'malformed_json');
export const invalidCode = problem(400, 'invalid_code');
export const invalidEmailCode = problem(400, 'invalid_email_code');
export const invalidInvitationCode = problem(400, 'invalid_invitation_code');
export const invalidProviderLogin = problem(400, 'invalid_provider_login');
export const invalidSecondFactorCode = problem(400, 'invalid_second_factor_code');
export const secondFactorCodeUsed = problem(400, 'second_factor_code_used');
export const unauthorized = problem(401, 'unauthorized');
export const invalidToken = problem(401, 'invalid_token');
export const insufficientUserAuthentication = problem(401, 'insufficient_user_authentication');
export const invalidCredentials = problem(401, 'invalid_credentials');
export const boundTokenRefused = problem(403, 'insufficient_scope');
export const invalidChallenge = problem(401, 'invalid_challenge');
export const invalidClient = problem(401, 'invalid_client');
export const invalidRefreshToken = problem(401, 'invalid_refresh_token');
export const notAMember = problem(403, 'not_a_member');
export const operatorRequired = problem(403, 'operator_required');
export const secondFactorRequired = problem(403, 'second_factor_required');
export const registrationClosed = problem(403, 'registration_closed');
export const emailNotVerified = problem(403, 'email_not_verified');
export const accountDisabled = problem(403, 'account_disabled');
export const providerEmailRefused = problem(403, 'provider_email_refused');
export const secondFactorCodeRequired = problem(403, 'second_factor_code_required');
export const crossDeviceLoginOff = problem(403, 'cross_device_login_off');
export const wrongPassword = problem(403, 'wrong_password');
export const directSessionRequired = problem(403, 'direct_session_required');
export const notFound = problem(404, 'not_found');
export const orgNotFound = problem(404, 'org_not_found');
export const userNotFound = problem(404, 'user_not_found');
export const sessionNotFound = problem(404, 'session_not_found');
export const memberNotFound = problem(404, 'member_not_found');
export const keyNotFound = problem(404, 'key_not_found');
export const serviceNotFound = problem(404, 'service_not_found');
export const providerNotFound = problem(404, 'provider_not_found');
export const invitationNotFound = problem(404, 'invitation_not_found');
export const methodNotAllowed = problem(405, 'method_not_allowed');
export const emailTaken = problem(409, 'email_taken');
export const linkRequired = problem(409, 'link_required');
export const identityTaken = problem(409, 'identity_taken');
export const secondFactorEnabled = problem(409, 'second_factor_enabled');
export const verifiedEmailRequired = problem(409, 'verified_email_required');
export const mailUnavailable = problem(409, 'mail_unavailable');
export const alreadyMember = problem(409, 'already_member');
export const alreadyInvited = problem(409, 'already_invited');
export const invitationEnded = problem(409, 'invitation_ended');
export const tooManyInvitations = problem(409, 'too_many_invitations');
export const lastOwner = problem(409, 'last_owner');
export const memberDisabled = problem(409, 'member_disabled');
export const tooManyKeys = problem(409, 'too_many_keys');
export const tooManyOrgs = problem(409, 'too_many_orgs');
export const userHasTooManyOrgs = problem(409, 'user_has_too_many_orgs');
export const operatorProtected = problem(409, 'operator_protected');
export const cursorExpired = problem(410, 'cursor_expired');
export const preconditionFailed = problem(412, 'precondition_failed');
export const bodyTooLarge = problem(413, 'body_too_large');
export const uriTooLong = problem(414, 'uri_too_long');
export const unsupportedMediaType = problem(415, 'unsupported_media_type');
export const idempotencyKeyReused = problem(422, 'idempotency_key_reused');
export const providerUnavailable = problem(503, 'provider_unavailable');
export const unavailable = problem(503, 'unavailable');
export const rateLimited = problem(429, 'rate_limited');

export function insufficientRole(requiredRole: string, yourRole: string): ExpectedProblem {
  return problem(403, 'insufficient_role', { requiredRole, yourRole });
}

export function insufficientScope(requiredScope: string): ExpectedProblem {
  return problem(403, 'insufficient_scope', { requiredScope });
}

export function invalidFields(...fields: string[]): object {
  return problem(400, 'validation_failed', {
    errors: fields.map((field) => ({ field, message: expect.stringMatching(/./) })),
  });
}

export function passwordCommon(field: string): object {
  return problem(400, 'password_common', { errors: [{ field, message: expect.stringMatching(/common/) }] });
}

export function passwordBreached(field: string): object {
  return problem(400, 'password_breached', { errors: [{ field, message: expect.stringMatching(/breach/) }] });
}

export const anId = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
);
export const aJwt = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
export const aCodeText = expect.stringMatching(/^[\w-]{43}$/);
