import type { ApiHeaderOptions, ApiQueryOptions, OpenAPIObject } from '@nestjs/swagger';

type PathItem = OpenAPIObject['paths'][string];
export type Operation = NonNullable<PathItem['get']>;
export type Response = Exclude<Operation['responses'][string], undefined | { $ref: string }>;

export const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

export function operationsOf({ paths }: Pick<OpenAPIObject, 'paths'>): Operation[] {
  return Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
}

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

const SHARED_PARAMETERS = new Set(
  [IF_MATCH_PARAMETER, IDEMPOTENCY_KEY_PARAMETER, DRY_RUN_PARAMETER, REMEDY_PARAMETER].map(
    ({ name }) => name,
  ),
);

type Parameters = NonNullable<NonNullable<OpenAPIObject['components']>['parameters']>;

export function shareParameters(document: OpenAPIObject): void {
  const parameters: Parameters = {};
  for (const operation of operationsOf(document)) {
    operation.parameters = operation.parameters?.map((parameter) => {
      if ('$ref' in parameter || !SHARED_PARAMETERS.has(parameter.name)) return parameter;
      parameters[parameter.name] = parameter;
      return { $ref: `#/components/parameters/${parameter.name}` };
    });
  }
  document.components = { ...document.components, parameters };
}
