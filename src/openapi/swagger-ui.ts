import { readFileSync } from 'node:fs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { CALLER_KINDS, type CallerKind } from '../access/route-access.js';
import { documentFor } from './caller-documents.js';
import { createOpenApiDocument } from './document.js';
import type { Env } from '../config/env.js';
import { fillForms, rememberAnswer } from './page/forms.js';
import { Problem } from '../problems/problem.js';
import { ANSWERS } from './page/answers.js';
import { BEHAVIOUR, deletionsLast, sendAlone } from './page/behaviour.js';
import { askForFields } from './page/operator-forms.js';
import { pascalCase } from './problem-schemas.js';

const documentPath = (callers: CallerKind): string => `/openapi/${callers}.json`;

function serveDocuments(app: NestFastifyApplication, kinds: readonly CallerKind[]): void {
  const fastify = app.getHttpAdapter().getInstance();
  const whole = once(() => createOpenApiDocument(app));
  const serve = (path: string, document: () => OpenAPIObject): void => {
    const text = once(() => JSON.stringify(document()));
    fastify.get(path, (_request, reply) => reply.type('application/json').send(text()));
  };
  serve('/openapi.json', whole);
  for (const callers of kinds) serve(documentPath(callers), () => documentFor(callers, whole(), app));
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const PATH = 'docs';
/** All files are in one folder. `@fastify/static` answers some other names with 403. */
const FILE = /^\/docs\/\w[\w.-]{0,99}(?:\?|$)/;
const STYLE = new URL('./page/style.css', import.meta.url);

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function serveDocs(app: NestFastifyApplication, { operatorsApi, operatorsLoginAge }: Env): void {
  const kinds = CALLER_KINDS.filter((callers) => callers !== 'operators' || operatorsApi);
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions;
    if (url?.startsWith(`/${PATH}`)) reply.header('Content-Security-Policy', PAGE_POLICY);
    // Below /docs/, the files that the page names do not exist.
    if (url === `/${PATH}/`) reply.redirect(`/${PATH}`);
    else done(url === `/${PATH}/*` && !FILE.test(request.url) ? new Problem('not_found') : undefined);
  });
  fastify.get('/', (_request, reply) => reply.redirect(`/${PATH}`));
  serveDocuments(app, kinds);
  SwaggerModule.setup(PATH, app, {} as OpenAPIObject, {
    raw: false,
    explorer: true,
    customSiteTitle: 'Accounts API',
    customCss: readFileSync(STYLE, 'utf8'),
    swaggerOptions: {
      urls: kinds.map((callers) => ({ name: pascalCase(callers), url: documentPath(callers) })),
      persistAuthorization: false,
      requestInterceptor: sendAlone,
      responseInterceptor: rememberAnswer,
      plugins: [...ANSWERS, fillForms, askForFields, ...BEHAVIOUR],
      operatorsLoginAge,
      operationsSorter: deletionsLast,
      filter: true,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      defaultModelsExpandDepth: 0,
    },
  });
}
