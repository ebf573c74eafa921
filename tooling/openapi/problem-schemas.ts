import { STATUS_CODES } from 'node:http';
import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { SERVICE_SCOPES } from '#src/access/principal';
import { PROBLEMS, type ProblemCode } from '#src/problems/problem-codes';
import { OAUTH_ERRORS } from '#src/problems/problem';
import { A_CHALLENGE, pascalCase, type ProblemExample } from '#src/openapi/decorators';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

const REQUEST_ID = '2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11';
const ROLE = { $ref: getSchemaPath('Role') };

const GENERAL: Schemas = {
  ProblemCode: {
    type: 'string',
    description: 'Stable code of a failure, which programs branch on.',
    enum: Object.keys(PROBLEMS),
  },
  Problem: {
    type: 'object',
    description: 'Problem details of a failed request (RFC 9457).',
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
    properties: {
      type: { type: 'string', format: 'uri-reference', example: 'about:blank' },
      title: { type: 'string', minLength: 1, example: 'Bad Request' },
      status: { type: 'integer', minimum: 400, maximum: 599, example: 400 },
      detail: { type: 'string', minLength: 1, example: PROBLEMS.validation_failed.detail },
      code: { $ref: getSchemaPath('ProblemCode') },
      requestId: {
        type: 'string',
        pattern: '^[A-Za-z0-9._:-]{1,128}$',
        description: 'Id of the request, also in the `X-Request-Id` header and in the log.',
        example: REQUEST_ID,
      },
    },
  },
  FieldError: {
    type: 'object',
    required: ['field', 'message'],
    properties: {
      field: { type: 'string', minLength: 1, example: 'email' },
      message: { type: 'string', minLength: 1, example: 'must be an email address' },
    },
  },
};

const ERRORS = { type: 'array', minItems: 1, items: { $ref: getSchemaPath('FieldError') } };

const EXTENSIONS: Partial<Record<ProblemCode, Schemas>> = {
  validation_failed: { errors: ERRORS },
  password_common: { errors: ERRORS },
  insufficient_role: { requiredRole: ROLE, yourRole: ROLE },
  second_factor_required: {
    challenge: {
      type: 'string',
      description: 'The challenge to send with a TOTP code or a recovery code.',
      minLength: 1,
    },
    expiresAt: {
      type: 'string',
      format: 'date-time',
      description: 'Time at which the challenge expires.',
    },
  },
  provider_login_required: {
    provider: {
      type: 'string',
      description: 'Name of the provider, for `POST /api/auth/providers/{name}/start`.',
      minLength: 1,
    },
  },
};

const ENROLLMENT: Schemas = {
  remedy: {
    type: 'object',
    description: 'Enroll by `POST /api/me/second-factor`. Present with `?remedy=true`.',
    required: ['action'],
    properties: { action: { type: 'string', enum: ['enroll_second_factor'] } },
  },
};

const EXTENSION_EXAMPLES: Partial<Record<ProblemCode, object>> = {
  insufficient_role: { requiredRole: 'admin', yourRole: 'member' },
  second_factor_required: { challenge: A_CHALLENGE, expiresAt: '2026-11-22T09:05:00.000Z' },
  provider_login_required: { provider: 'acme' },
};

const OPTIONAL_EXTENSIONS: Partial<Record<ProblemCode, Schemas>> = {
  second_factor_required_by_org: ENROLLMENT,
  second_factor_not_enabled: ENROLLMENT,
  insufficient_scope: {
    requiredScope: {
      type: 'string',
      description: 'The scope that the service would need. Absent if an access token was rejected.',
      enum: [...SERVICE_SCOPES],
    },
  },
  last_owner: {
    orgs: {
      type: 'array',
      description:
        'Up to 100 organizations that have no other owner. Present if the request was to delete or disable the ' +
        'user.',
      items: {
        type: 'object',
        required: ['id', 'name', 'hasOtherMembers'],
        properties: {
          id: { type: 'string', format: 'uuid' },
          name: { type: 'string', minLength: 1, maxLength: 100 },
          hasOtherMembers: {
            type: 'boolean',
            description: 'Whether the organization has a member who could become owner.',
          },
        },
      },
      example: [
        { id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines', hasOtherMembers: true },
      ],
    },
    remedy: {
      type: 'object',
      description: 'Members who can be made owner. Present with `?remedy=true`.',
      required: ['action', 'candidates'],
      properties: {
        action: { type: 'string', enum: ['transfer'] },
        orgId: {
          type: 'string',
          format: 'uuid',
          description: 'Organization of the candidates. Present if the request was to delete the user.',
        },
        candidates: { type: 'array', maxItems: 5, items: { $ref: getSchemaPath('Member') } },
      },
    },
  },
  already_invited: {
    remedy: {
      type: 'object',
      description: 'The invitation that can be resent. Present with `?remedy=true`.',
      required: ['action', 'invitationId'],
      properties: {
        action: { type: 'string', enum: ['resend'] },
        invitationId: { type: 'string', format: 'uuid' },
      },
    },
  },
};

export function problemSchemas(codes: ProblemCode[]): Schemas {
  return { ...GENERAL, ...Object.fromEntries(codes.map((code) => [schemaName(code), problemSchema(code)])) };
}

const BODY_CODES = new Set<ProblemCode>([
  'bad_request',
  'validation_failed',
  'body_too_large',
  'unsupported_media_type',
]);

/** RFC 6749 section 5.2 */
function oauthError(code: ProblemCode): Schemas {
  const known = OAUTH_ERRORS[code];
  if (known === undefined && !BODY_CODES.has(code)) return {};
  return { error: { type: 'string', description: 'Code of RFC 6749.', enum: [known ?? 'invalid_request'] } };
}

function problemSchema(code: ProblemCode): Schemas[string] {
  const extensions = { ...EXTENSIONS[code], ...(code in OAUTH_ERRORS && oauthError(code)) };
  return {
    allOf: [
      { $ref: getSchemaPath('Problem') },
      {
        type: 'object',
        required: ['code', ...Object.keys(extensions)],
        properties: {
          code: { type: 'string', enum: [code] },
          ...oauthError(code),
          ...extensions,
          ...OPTIONAL_EXTENSIONS[code],
        },
      },
    ],
  };
}

export function problemExample({ code, detail, errors, extensions }: ProblemExample): { value: object } {
  const { status, detail: usual } = PROBLEMS[code];
  const value = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: detail ?? usual,
    code,
    requestId: REQUEST_ID,
    ...(code in OAUTH_ERRORS && { error: OAUTH_ERRORS[code] }),
    ...EXTENSION_EXAMPLES[code],
    ...extensions,
    ...(errors && { errors }),
  };
  return { value };
}

export const schemaName = (code: ProblemCode): string => `${pascalCase(code)}Problem`;
