import { DocumentBuilder, getSchemaPath, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { INestApplication } from '@nestjs/common';
import { DESCRIPTION } from './caller-documents.js';
import { VERSION } from '../config/env.js';
import { type ProblemCode, PROBLEMS } from '../problems/problem-codes.js';
import { completeResponses, RESPONSE_HEADERS } from './responses.js';
import { shareParameters } from './decorators.js';
import { addProblemResponses } from './problem-responses.js';
import { problemExample, problemSchemas, schemaName } from './problem-schemas.js';

const TAGS: [name: string, description: string][] = [
  ['Auth', 'Register, log in, and let another service act for the user by a one-time code'],
  ['Me', 'The signed-in user'],
  ['Organizations', 'Organizations and their record'],
  ['Members', 'Members of an organization and their roles'],
  ['Invitations', 'Invitations to join an organization'],
  [
    'Services',
    'Tokens, memberships and changes, of which internal services learn with credentials of their own',
  ],
  ['Operators', 'Accounts, organizations, mails and services as operators see and change them'],
  ['Tokens', 'Keys for services that verify tokens'],
  ['Health', 'Probes for load balancers and orchestrators'],
];

export function createOpenApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Accounts')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .addServer('/')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
    .addBasicAuth({ type: 'http', scheme: 'basic', description: 'name and secret of a service' });
  for (const [name, description] of TAGS) builder.addTag(name, description);

  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (_controller, method) => method,
  });
  document.info.contact = { name: 'The operator of this service' };
  addProblemResponses(document, app);
  addProblems(document);
  addUnions(document);
  completeResponses(document);
  shareParameters(document);
  putInReadingOrder(document);
  return document;
}

const READING_ORDER = [
  '/api/auth',
  '/api/memberships',
  '/api/events',
  '/api/me',
  '/api/orgs',
  '/api/orgs/{orgId}/events',
  '/api/orgs/{orgId}/members',
  '/api/orgs/{orgId}/invitations',
  '/api/operators/status',
  '/api/operators/users',
  '/api/operators/orgs',
  '/api/operators/events',
  '/api/operators/mails',
  '/api/operators/services',
];

function putInReadingOrder(document: OpenAPIObject): void {
  const rank = (path: string): number => {
    const found = READING_ORDER.findLastIndex((one) => path === one || path.startsWith(`${one}/`));
    return found < 0 ? READING_ORDER.length : found;
  };
  document.paths = Object.fromEntries(
    Object.entries(document.paths).toSorted(([one], [other]) => rank(one) - rank(other)),
  );
  const { schemas = {}, responses = {} } = document.components ?? {};
  document.components = { ...document.components, schemas: byName(schemas), responses: byName(responses) };
}

const byName = <T>(components: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1)));

function addProblems(document: OpenAPIObject): void {
  const text = JSON.stringify(document.paths);
  const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) =>
    text.includes(JSON.stringify(getSchemaPath(schemaName(code)))),
  );
  const shared = codes.filter((code) => text.includes(`"#/components/examples/${code}"`));
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...problemSchemas(codes) },
    examples: Object.fromEntries(shared.map((code) => [code, problemExample({ code })])),
    headers: RESPONSE_HEADERS,
  };
}

// Each answer has to match one alternative only, so the smaller one excludes what the other has.
function addUnions({ components }: OpenAPIObject): void {
  const schemas = components!.schemas!;
  schemas['SignIn'] = { ...schemas['SignIn'], not: { required: ['refreshToken'] } };
  schemas['SignInResult'] = {
    description: 'The answer has a refresh token if the request had `refresh`.',
    oneOf: [{ $ref: getSchemaPath('SignIn') }, { $ref: getSchemaPath('RefreshableSignIn') }],
  };
  schemas['CodeResult'] = { ...schemas['CodeResult'], not: { required: ['audience'] } };
  schemas['IssuedCode'] = {
    description: 'The answer repeats the audience if the request had one.',
    oneOf: [{ $ref: getSchemaPath('CodeResult') }, { $ref: getSchemaPath('BoundCodeResult') }],
  };
  schemas['IntrospectionResult'] = {
    description: '`active` tells the answers apart.',
    oneOf: [{ $ref: getSchemaPath('ActiveToken') }, { $ref: getSchemaPath('InactiveToken') }],
  };
}
