import { DocumentBuilder, getSchemaPath, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { INestApplication } from '@nestjs/common';
import { INTRODUCTION, SECTIONS } from './introduction.ts';
import { VERSION } from '#src/config/env';
import { type ProblemCode, PROBLEMS } from '#src/problems/problem-codes';
import { completeResponses, RESPONSE_HEADERS } from './responses.ts';
import { operationsOf, shareParameters } from './document-parts.ts';
import { addProblemResponses } from './problem-responses.ts';
import { describeOperations } from './operations.ts';
import { describeSchemas } from './descriptions.ts';
import { describeSuccesses } from './successes.ts';
import { problemExample, problemSchemas, schemaName } from './problem-schemas.ts';

export function createOpenApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.0.4')
    .setTitle('Accounts')
    .setDescription(INTRODUCTION)
    .setVersion(VERSION)
    .addServer('/')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'Access token from login or refresh.',
    })
    .addBasicAuth({
      type: 'http',
      scheme: 'basic',
      description: 'Name and secret of a service, which `accounts services add` prints.',
    });
  for (const { tag, description } of SECTIONS) builder.addTag(tag, description);

  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (_controller, method) => method,
  });
  document.info.contact = { name: 'The operator of this service' };
  addProblemResponses(document, app);
  addProblems(document);
  describeSchemas(document);
  describeOperations(document, app);
  describeSuccesses(document);
  completeResponses(document);
  shareParameters(document);
  putInReadingOrder(document);
  return document;
}

function putInReadingOrder(document: OpenAPIObject): void {
  const paths = Object.entries(document.paths).map(([path, item]) => ({
    path,
    item,
    sectionIndex: sectionIndexOf(path),
  }));
  document.paths = Object.fromEntries(
    paths
      .toSorted((one, other) => one.sectionIndex - other.sectionIndex)
      .map(({ path, item }) => [path, item]),
  );
  for (const { item, sectionIndex } of paths) {
    for (const operation of operationsOf({ ...document, paths: { '/': item } }))
      operation.tags = [SECTIONS[sectionIndex]!.tag];
  }
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

function sectionIndexOf(path: string): number {
  const found = SECTIONS.flatMap(({ prefixes }, sectionIndex) =>
    prefixes
      .filter((prefix) => path === prefix || path.startsWith(`${prefix}/`))
      .map(({ length }) => ({ sectionIndex, length })),
  );
  return found.toSorted((one, other) => other.length - one.length)[0]!.sectionIndex;
}
