import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { useContainer } from 'class-validator';
import { AcceptablePassword } from '../auth/passwords/password.decorators.js';
import { noteSignedInUsers } from '../auth/tokens/signed-in-user.js';
import type { Env } from '../config/env.js';
import { collectAllowedMethods, refuseLongUrls } from '../http/paths.js';
import type { Connections } from '../http/connections.js';
import { allowOrigins, sendSecurityHeaders } from '../http/response-headers.js';
import { enforceDeadline } from '../http/deadline.js';
import { acceptFormBodies } from '../http/form-body.js';
import { acceptJsonBodies } from '../http/json-body.js';
import { replaceNodeAnswers } from '../http/broken-requests.js';
import { traceRequests } from '../http/request-log.js';
import { validationPipe } from '../http/validation.js';
import { giveBackUncounted } from '../rate-limits/admissions.js';
import { serveDocs } from '../openapi/swagger-ui.js';
import { markDryRuns } from '../requests/write.js';

export async function configureApp(
  app: NestFastifyApplication,
  env: Env,
  connections: Connections,
): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  sendSecurityHeaders(fastify);
  connections.follow(fastify);
  traceRequests(fastify);
  replaceNodeAnswers(fastify);
  refuseLongUrls(fastify);
  acceptJsonBodies(fastify);
  acceptFormBodies(fastify);
  enforceDeadline(fastify);
  giveBackUncounted(fastify);
  noteSignedInUsers(fastify);
  markDryRuns(fastify);
  allowOrigins(app, env.corsOrigins);
  const refuseOtherMethods = collectAllowedMethods(fastify);

  const acceptablePassword = app.get(AcceptablePassword);
  const container = {
    get: (type: unknown) => (type === AcceptablePassword ? acceptablePassword : undefined),
  };
  useContainer(container, { fallback: true });
  app.useGlobalPipes(validationPipe());
  if (env.docs) serveDocs(app, env);

  await app.init();
  refuseOtherMethods();
}
