import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ProblemResponse } from './problem.response.js';

const DESCRIPTION = `Accounts, organizations and members.

Register or log in to get a token, then press **Authorize** and paste it. Every failure is a problem details
object (RFC 9457) with a stable \`code\`.`;

const TAGS: [name: string, description: string][] = [
  ['Auth', 'Register, log in, and pass a login on with a one-time code'],
  ['Health', 'For load balancers and orchestrators'],
  ['Me', 'The signed-in user'],
  ['Members', 'Who belongs to an organization, and in which role'],
  ['Organizations', 'Organizations and what they hold'],
  ['Tokens', 'What other services need to verify tokens'],
];

/** The OpenAPI document, made from the controllers. */
export function createOpenApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Accounts')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .addServer('/')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' });
  for (const [name, description] of TAGS) builder.addTag(name, description);

  const document = SwaggerModule.createDocument(app, builder.build(), {
    extraModels: [ProblemResponse],
    operationIdFactory: (_controller, method) => method,
  });
  document.info.contact = { name: 'The operator of this service' };
  return document;
}
