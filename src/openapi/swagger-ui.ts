import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { CALLER_KINDS } from '../access/route-access.js';
import type { Env } from '../config/env.js';
import { fillForms } from './page/fill-forms.js';
import { foldAnswers } from './page/folded-answers.js';
import { deletionsLast } from './page/operations-order.js';
import { PAGE_STYLE } from './page/page-style.js';
import { keepLogin } from './page/keep-login.js';
import { rememberAnswer } from './page/remember-answer.js';
import { sendAlone } from './page/send-alone.js';
import { leaveFormsUnsaved } from './page/unsaved-forms.js';
import { pascalCase } from './problem-schemas.js';
import { documentPath, serveDocuments } from './serve-documents.js';

const PATH = 'docs';

/** Allows only the page's own scripts and styles; Swagger UI sets inline styles and inlines its icons. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The page loads the document that its selector names. */
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
