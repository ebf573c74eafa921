import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { CallerKind } from '../access/route-access.js';
import { documentFor } from './caller-documents.js';
import { createOpenApiDocument } from './document.js';

export const documentPath = (callers: CallerKind): string => `/openapi/${callers}.json`;

/** Serves the whole document, and one for each of these callers. Each is made when it is first asked for. */
export function serveDocuments(app: NestFastifyApplication, kinds: readonly CallerKind[]): void {
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
