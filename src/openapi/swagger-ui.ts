import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { CALLER_KINDS, type CallerKind } from '../access/route-access.js';
import { documentFor } from './caller-documents.js';
import { createOpenApiDocument } from './document.js';
import type { Env } from '../config/env.js';
import { fillForms, rememberAnswer } from './page/forms.js';
import { deletionsLast, foldAnswers, keepLogin, leaveFormsUnsaved, sendAlone } from './page/behaviour.js';
import { pascalCase } from './problem-schemas.js';

const documentPath = (callers: CallerKind): string => `/openapi/${callers}.json`;

function serveDocuments(app: NestFastifyApplication, kinds: readonly CallerKind[]): void {
  const whole = once(() => createOpenApiDocument(app));
  const serve = (path: string, text: () => string): void => {
    app
      .getHttpAdapter()
      .getInstance()
      .get(path, (_request, reply) => reply.type('application/json').send(text()));
  };
  serve(
    '/openapi.json',
    once(() => JSON.stringify(whole())),
  );
  for (const callers of kinds)
    serve(
      documentPath(callers),
      once(() => JSON.stringify(documentFor(callers, whole(), app))),
    );
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const PATH = 'docs';

/** Swagger UI sets inline styles and inlines its icons. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The page loads the document of its selector. */
const NONE = {} as OpenAPIObject;

export function serveDocs(app: NestFastifyApplication, { operatorsApi }: Pick<Env, 'operatorsApi'>): void {
  const kinds = CALLER_KINDS.filter((callers) => callers !== 'operators' || operatorsApi);
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.url?.startsWith(`/${PATH}`))
      reply.header('Content-Security-Policy', PAGE_POLICY);
    done();
  });
  fastify.get('/', (_request, reply) => reply.redirect(`/${PATH}`));
  serveDocuments(app, kinds);
  SwaggerModule.setup(PATH, app, NONE, {
    raw: false,
    explorer: true,
    customSiteTitle: 'Accounts API',
    customCss: PAGE_STYLE,
    swaggerOptions: {
      urls: kinds.map((callers) => ({ name: pascalCase(callers), url: documentPath(callers) })),
      persistAuthorization: false,
      requestInterceptor: sendAlone,
      responseInterceptor: rememberAnswer,
      plugins: [foldAnswers, fillForms, keepLogin, leaveFormsUnsaved],
      operationsSorter: deletionsLast,
      filter: true,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      defaultModelsExpandDepth: 0,
    },
  });
}

/** An operation fits a screen. */
const PAGE_STYLE = `
.swagger-ui .topbar .link, .swagger-ui .topbar .dark-mode-toggle, .swagger-ui .response-col_links, .swagger-ui .parameter__enum,
.swagger-ui .servers-title, .swagger-ui .servers, .swagger-ui .try-out,
.swagger-ui table.parameters thead, .swagger-ui table.responses-table > thead { display: none }
.swagger-ui .topbar { padding: 8px 0 }
.swagger-ui .topbar .download-url-wrapper { justify-content: flex-start }
.swagger-ui .topbar .select-label { width: auto; min-width: 360px; margin: 0 }
.swagger-ui .topbar .select-label select { margin: 0; padding: 4px 40px 4px 10px }
.swagger-ui .information-container { padding-bottom: 0 }
.swagger-ui .info { margin: 24px 0 8px }
.swagger-ui .scheme-container { margin: 0; padding: 8px 0; box-shadow: none; background: none }
.swagger-ui .filter .operation-filter-input { margin: 8px 0 }

.swagger-ui .opblock-description-wrapper { padding: 8px 20px }
.swagger-ui .opblock .opblock-section-header { min-height: 0; padding: 4px 20px; box-shadow: none }
.swagger-ui .opblock .opblock-section-header .btn { padding: 3px 20px }
.swagger-ui .opblock .tab-header .tab-item.active h4 span::after { bottom: -7px }
.swagger-ui .opblock-section .table-container { padding: 4px 20px }
.swagger-ui .opblock-body .execute-wrapper, .swagger-ui .opblock-body .btn-group { padding: 6px 20px }
.swagger-ui .opblock-body .execute-wrapper .btn, .swagger-ui .opblock-body .btn-group .btn { padding: 5px 40px }
.swagger-ui .responses-inner { padding: 4px 20px 8px }

.swagger-ui table.parameters tbody tr td { padding: 4px 0; vertical-align: middle }
.swagger-ui table.parameters .parameters-col_name { width: 290px; max-width: 290px; padding-right: 12px }
.swagger-ui .parameter__name, .swagger-ui .parameter__type, .swagger-ui .parameter__in {
  display: inline-block; margin: 0 6px 0 0; padding: 0; font-size: 12px
}
.swagger-ui .parameter__deprecated { display: inline-block }
.swagger-ui .parameter__name { font-size: 14px }
.swagger-ui .parameter__name.required::after { top: 0; padding: 0 }
.swagger-ui .opblock-section-request-body .opblock-title.required::after { margin-left: 6px }
.swagger-ui .opblock-section-request-body .opblock-title small { margin-left: 6px }
.swagger-ui .parameters-col_description { display: flex; gap: 12px; align-items: center; min-height: 36px; margin: 0 }
.swagger-ui .parameters-col_description > * { order: 1; margin: 0 }
.swagger-ui .parameters-col_description > .renderedMarkdown { flex: 1; order: 2; min-width: 0 }
.swagger-ui .parameters-col_description p { margin: 0; font-size: 13px }
.swagger-ui .parameters-col_description input[type='text'], .swagger-ui .parameters-col_description select {
  width: 340px; max-width: 340px; min-width: 340px; margin: 0; padding: 4px 8px; font-size: 13px
}

.swagger-ui .opblock-section-request-body .opblock-description-wrapper { padding: 4px 20px }
.swagger-ui .opblock-section-request-body .tab { margin: 0; padding: 4px 0 }
.swagger-ui textarea.body-param__text { min-height: 6em }
.swagger-ui .examples-select { margin: 0 0 4px }

.swagger-ui table.responses-table .answer-line td { padding: 0 }
.swagger-ui .answer-line button {
  display: flex; flex-wrap: wrap; gap: 0 10px; align-items: baseline; width: 100%; padding: 1px 0; border: 0;
  background: none; text-align: left; cursor: pointer; font: 13px sans-serif; color: inherit
}
.swagger-ui .answer-line button::before { content: '\\25b8'; width: 1em }
.swagger-ui .answer-line button[aria-expanded='true']::before { content: '\\25be' }
.swagger-ui .answer-line button:hover { background: rgb(0 0 0 / 4%) }
.swagger-ui .answer-line b { min-width: 3em }
.swagger-ui .answer-line + .response > .response-col_status { visibility: hidden }
.swagger-ui .answer-line + .response > td { padding-top: 0 }
`;
