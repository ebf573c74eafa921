import fastify, { type FastifyInstance } from 'fastify';
import { authRoutes } from './auth-routes.ts';
import type { Database } from './db.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { memberRoutes } from './member-routes.ts';
import { orgRoutes } from './org-routes.ts';
import { Problem, sendProblem } from './problems.ts';
import type { Record } from './record.ts';
import { secondStepRoute } from './second-step-route.ts';
import type { SecondFactors } from './second-factors.ts';

/**
 * The service as one would write it by hand: Fastify, SQL, no framework. Answers have no schema, because
 * JSON.stringify of current engines is faster on long lists than a compiled serializer.
 */
export function createApp(
  db: Database,
  record: Record,
  factors: SecondFactors,
  options: { codeTtlSeconds: number; logLevel: string },
): FastifyInstance {
  const app = fastify({ logger: { level: options.logLevel }, bodyLimit: 16_384, requestTimeout: 15_000 });

  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser('error', 'error');
  // Many clients send `Content-Type: application/json` with an empty body.
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parseJson(request, body, done);
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
    done();
  });
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request, reply) =>
    sendProblem(new Problem(404, 'not_found', 'There is no such route.'), request, reply),
  );

  authRoutes(app, db, record, options.codeTtlSeconds);
  secondStepRoute(app, db, record, factors);
  orgRoutes(app, db, record);
  memberRoutes(app, db, record);
  invitationRoutes(app, db, record);
  return app;
}
