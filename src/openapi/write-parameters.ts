import type { ApiHeaderOptions, ApiQueryOptions } from '@nestjs/swagger';

export const IF_MATCH_PARAMETER = {
  name: 'If-Match',
  required: false,
  description:
    'the `ETag` of the organization that the change is based on, such as `"7"` (RFC 9110 section 13.1.1)',
  schema: { type: 'string', pattern: '^(\\*|(W/)?"[^"]*"( *, *(W/)?"[^"]*")*)$', maxLength: 1000 },
} satisfies ApiHeaderOptions;

export const IDEMPOTENCY_KEY_PARAMETER = {
  name: 'Idempotency-Key',
  required: false,
  description:
    'a UUID, new for each change, the same when it is sent again: within 24 hours the first answer is repeated ' +
    '(draft-ietf-httpapi-idempotency-key-header)',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
} satisfies ApiHeaderOptions;

export const DRY_RUN_PARAMETER = {
  name: 'dryRun',
  required: false,
  description: 'changes nothing, and answers what the change would answer',
  schema: { type: 'boolean' },
} satisfies ApiQueryOptions;

export const REMEDY_PARAMETER = {
  name: 'remedy',
  required: false,
  description: 'a refusal names the way out in its member `remedy`',
  schema: { type: 'boolean' },
} satisfies ApiQueryOptions;

export const SHARED_PARAMETERS = new Set(
  [IF_MATCH_PARAMETER, IDEMPOTENCY_KEY_PARAMETER, DRY_RUN_PARAMETER, REMEDY_PARAMETER].map(
    ({ name }) => name,
  ),
);
