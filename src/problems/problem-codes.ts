/**
 * Every error the service can answer with: the stable `code` that clients branch on, its HTTP status and
 * what it means. The OpenAPI document is made from this table.
 */
export const PROBLEMS = {
  bad_request: { status: 400, meaning: 'The request is malformed' },
  malformed_json: { status: 400, meaning: 'The body is not a JSON object' },
  validation_failed: { status: 400, meaning: 'The request has invalid fields' },
  invalid_code: { status: 400, meaning: 'The authorization code is not valid' },
  unauthorized: { status: 401, meaning: 'A bearer token is required' },
  invalid_token: { status: 401, meaning: 'The bearer token is not valid' },
  invalid_credentials: { status: 401, meaning: 'Wrong e-mail or password' },
  forbidden: { status: 403, meaning: 'This is not allowed' },
  not_a_member: { status: 403, meaning: 'You are not a member of this organization' },
  insufficient_role: { status: 403, meaning: 'Your role does not allow this' },
  not_found: { status: 404, meaning: 'There is nothing here' },
  org_not_found: { status: 404, meaning: 'There is no such organization' },
  user_not_found: { status: 404, meaning: 'There is no such user' },
  member_not_found: { status: 404, meaning: 'There is no such member in this organization' },
  method_not_allowed: { status: 405, meaning: 'The method is not allowed here' },
  request_timeout: { status: 408, meaning: 'The request took too long to arrive' },
  email_taken: { status: 409, meaning: 'The e-mail is already registered' },
  already_member: { status: 409, meaning: 'The user is already a member' },
  too_many_orgs: { status: 409, meaning: 'You belong to as many organizations as one user may' },
  user_has_too_many_orgs: { status: 409, meaning: 'The user belongs to as many organizations as one may' },
  last_owner: { status: 409, meaning: 'An organization must keep at least one owner' },
  body_too_large: { status: 413, meaning: 'The body is too large' },
  uri_too_long: { status: 414, meaning: 'The URL is too long' },
  unsupported_media_type: { status: 415, meaning: 'The body must be application/json' },
  rate_limited: { status: 429, meaning: 'Too many requests' },
  headers_too_large: { status: 431, meaning: 'The request headers are too large' },
  internal_error: { status: 500, meaning: 'Something went wrong' },
  unavailable: { status: 503, meaning: 'The service cannot answer right now' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ProblemCode = keyof typeof PROBLEMS;
