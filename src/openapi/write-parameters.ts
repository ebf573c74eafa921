import type { ApiHeaderOptions, ApiQueryOptions } from '@nestjs/swagger';

export const IF_MATCH_PARAMETER = {
  name: 'If-Match',
  required: false,
  description:
    '`ETag` of the organization that the change is based on, such as `"7"` (RFC 9110 section 13.1.1)',
  schema: { type: 'string', pattern: '^(\\*|(W/)?"[^"]*"( *, *(W/)?"[^"]*")*)$', maxLength: 1000 },
} satisfies ApiHeaderOptions;

export const IDEMPOTENCY_KEY_PARAMETER = {
  name: 'Idempotency-Key',
  required: false,
  description:
    'A new UUID for each change. A request that is repeated with its key within 24 hours gets the first answer again ' +
    '(draft-ietf-httpapi-idempotency-key-header).',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
} satisfies ApiHeaderOptions;

export const DRY_RUN_PARAMETER = {
  name: 'dryRun',
  required: false,
  description: 'If true, nothing is changed, and the answer is that of the change.',
  schema: { type: 'boolean' },
} satisfies ApiQueryOptions;

export const REMEDY_PARAMETER = {
  name: 'remedy',
  required: false,
  description: 'If true, a refusal suggests a way out in its member `remedy`.',
  schema: { type: 'boolean' },
} satisfies ApiQueryOptions;

export const SHARED_PARAMETERS = new Set(
  [IF_MATCH_PARAMETER, IDEMPOTENCY_KEY_PARAMETER, DRY_RUN_PARAMETER, REMEDY_PARAMETER].map(
    ({ name }) => name,
  ),
);
