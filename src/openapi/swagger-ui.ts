import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import { createOpenApiDocument } from './document.js';
import { fillExamples } from './page/fill-examples.js';
import { foldAnswers } from './page/folded-answers.js';
import { deletionsLast } from './page/operations-order.js';
import { PAGE_STYLE } from './page/page-style.js';
import { rememberAnswer } from './page/remember-answer.js';

const PATH = 'docs';

/** Allows only the page's own scripts and styles; Swagger UI sets inline styles and inlines its icons. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function serveDocs(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.url?.startsWith(`/${PATH}`))
      reply.header('Content-Security-Policy', PAGE_POLICY);
    done();
  });
  fastify.get('/', (_request, reply) => reply.redirect(`/${PATH}`));
  SwaggerModule.setup(PATH, app, () => createOpenApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Accounts API',
    customCss: PAGE_STYLE,
    swaggerOptions: {
      persistAuthorization: false,
      responseInterceptor: rememberAnswer,
      plugins: [foldAnswers, fillExamples],
      operationsSorter: deletionsLast,
      filter: true,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      defaultModelsExpandDepth: 0,
    },
  });
}
