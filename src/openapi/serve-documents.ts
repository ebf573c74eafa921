import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { CALLER_KINDS, type CallerKind } from '../access/route-access.js';
import { documentFor } from './caller-documents.js';
import { createOpenApiDocument } from './document.js';

export const documentPath = (callers: CallerKind): string => `/openapi/${callers}.json`;

/** Serves the whole document, and one for each kind of callers. Each is made when it is first asked for. */
export function serveDocuments(app: NestFastifyApplication): void {
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
  for (const callers of CALLER_KINDS)
    serve(
      documentPath(callers),
      once(() => JSON.stringify(documentFor(callers, whole(), app))),
    );
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
