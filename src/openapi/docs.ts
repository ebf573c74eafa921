import { readFile } from 'node:fs/promises';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { CALLER_KINDS } from '../access/route-access.js';
import type { Env } from '../config/env.js';
import { Problem } from '../problems/problem.js';
import { pascalCase } from './decorators.js';

/** The build writes them: tooling/openapi/write.ts. */
const DOCS = new URL('../../dist/docs/', import.meta.url);
const PATH = '/docs';
/** All files are in one folder. `@fastify/static` answers some other names with 403. */
const FILE = /^\/docs\/\w[\w.-]{0,99}(?:\?|$)/;

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function serveDocs(app: NestFastifyApplication, { operatorsApi, operatorsLoginAge }: Env): void {
  const kinds = CALLER_KINDS.filter((callers) => callers !== 'operators' || operatorsApi);
  const urls = kinds.map((callers) => ({ name: pascalCase(callers), url: `/openapi/${callers}.json` }));
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions;
    if (url?.startsWith(PATH)) reply.header('Content-Security-Policy', PAGE_POLICY);
    // Below /docs/, the files that the page names do not exist.
    if (url === `${PATH}/`) reply.redirect(PATH);
    else done(url === `${PATH}/*` && !FILE.test(request.url) ? new Problem('not_found') : undefined);
  });
  const serve = (path: string, type: string, file: string, complete = (text: string) => text): void => {
    fastify.get(path, async (_request, reply) =>
      reply.type(type).send(complete(await readFile(new URL(file, DOCS), 'utf8'))),
    );
  };
  serve(
    '/openapi.json',
    'application/json',
    operatorsApi ? 'openapi.json' : 'openapi-without-operators.json',
  );
  for (const callers of kinds) serve(`/openapi/${callers}.json`, 'application/json', `${callers}.json`);
  for (const path of [PATH, `${PATH}/`, `${PATH}/index.html`]) serve(path, 'text/html', 'index.html');
  serve(`${PATH}/swagger-ui-init.js`, 'application/javascript', 'swagger-ui-init.js', (script) =>
    script
      .replace('"OPERATORS_LOGIN_AGE"', String(operatorsLoginAge))
      .replace('"DOCUMENTS"', JSON.stringify(urls)),
  );
  fastify.get('/', (_request, reply) => reply.redirect(PATH));
  void fastify.register(fastifyStatic, { root: new URL('files/', DOCS), prefix: PATH, decorateReply: false });
}
