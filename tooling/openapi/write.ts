import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { CALLER_KINDS } from '#src/access/route-access';
import { AppModule } from '#src/app/app.module';
import type { KeyRing } from '#src/auth/tokens/signing-keys';
import { parseEnv } from '#src/config/env';
import { documentFor } from './caller-documents.ts';
import { createOpenApiDocument } from './document.ts';
import { ANSWERS } from './page/answers.ts';
import { BEHAVIOUR, deletionsLast, sendAlone } from './page/behaviour.ts';
import { fillForms, rememberAnswer } from './page/forms.ts';
import { askForFields } from './page/operator-forms.ts';

const DOCS = join(import.meta.dirname, '../../dist/docs');
const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const FILES = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'favicon-16x16.png',
  'favicon-32x32.png',
];

/** An application that Nest only explores: it connects to nothing, and its providers do not exist. */
const explore = (operatorsApi: boolean): Promise<NestFastifyApplication> =>
  NestFactory.create(
    AppModule.forRoot({ ...parseEnv({}), operatorsApi }, {} as KeyRing),
    new FastifyAdapter(),
    { preview: true, logger: false },
  );

function write(name: string, text: string): void {
  writeFileSync(join(DOCS, name), text);
}

function writeDocuments(app: NestFastifyApplication): void {
  const whole = createOpenApiDocument(app);
  write('openapi.json', JSON.stringify(whole));
  for (const callers of CALLER_KINDS)
    write(`${callers}.json`, JSON.stringify(documentFor(callers, whole, app)));
}

/** The service replaces `DOCUMENTS` and `OPERATORS_LOGIN_AGE` (src/openapi/docs.ts). */
async function writePage(app: NestFastifyApplication): Promise<void> {
  SwaggerModule.setup('docs', app, {} as OpenAPIObject, {
    raw: false,
    explorer: true,
    customSiteTitle: 'Accounts API',
    customCss: readFileSync(join(import.meta.dirname, 'page/style.css'), 'utf8'),
    swaggerOptions: {
      urls: 'DOCUMENTS',
      persistAuthorization: false,
      requestInterceptor: sendAlone,
      responseInterceptor: rememberAnswer,
      plugins: [...ANSWERS, fillForms, askForFields, ...BEHAVIOUR],
      operatorsLoginAge: 'OPERATORS_LOGIN_AGE',
      operationsSorter: deletionsLast,
      filter: true,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      defaultModelsExpandDepth: 0,
    },
  });
  write('index.html', (await app.inject('/docs')).body);
  write('swagger-ui-init.js', (await app.inject('/docs/swagger-ui-init.js')).body);
}

mkdirSync(join(DOCS, 'files'), { recursive: true });
const app = await explore(true);
writeDocuments(app);
await writePage(app);
write('openapi-without-operators.json', JSON.stringify(createOpenApiDocument(await explore(false))));
for (const name of FILES) copyFileSync(join(SWAGGER_UI, name), join(DOCS, 'files', name));
