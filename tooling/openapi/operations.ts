import type { INestApplication } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type Access, directSession, RouteAccess } from '#src/access/route-access';
import { handlersOf } from './caller-documents.ts';
import { codeSamples } from './code-samples.ts';
import { operationsOf } from './document-parts.ts';

const DIRECT_SESSION = 'a direct session (opened by a login, not by a one-time code)';

const RECENT_LOGIN = 'a direct session that a login opened within the last 15 minutes (configurable)';

const ROLES = { member: '', admin: ' with the role `admin` or `owner`', owner: ' with the role `owner`' };

function requirementOf(access: Access): string {
  if (access.to === 'everyone')
    return access.or ? 'nothing, or service credentials if the code has an `audience`' : 'nothing';
  if (access.to === 'services')
    return access.scope ? `service credentials with the scope \`${access.scope}\`` : 'service credentials';
  if (access.to === 'operators')
    return 'an operator who logged in with a second factor within the last hour (configurable)';
  if (access.to === 'members') {
    const member = `a member of the organization${ROLES[access.minRole]}`;
    return access.assurance ? `${member}, and ${loginOf(access.assurance)}` : member;
  }
  if (access.or) return 'an access token, or a refresh token in the body';
  if (access.assurance) return loginOf(access.assurance);
  return access.boundTokens ? 'an access token, which may be bound to a service' : 'an access token';
}

function loginOf(assurance: typeof directSession): string {
  return assurance === directSession ? DIRECT_SESSION : RECENT_LOGIN;
}

/** Puts what an operation requires after its purpose, the first paragraph. */
export function describeOperations(document: OpenAPIObject, app: INestApplication): void {
  const handlers = handlersOf(app);
  const reflector = app.get(Reflector);
  for (const operation of operationsOf(document)) {
    const { operationId = '', description = '' } = operation;
    const [purpose = '', ...others] = description.split('\n\n');
    const requires = `**Requires:** ${requirementOf(reflector.get(RouteAccess, handlers.get(operationId)!))}.`;
    operation.description = [purpose, requires, ...others].join('\n\n');
  }
  for (const [operation, samples] of codeSamples(document))
    Object.assign(operation, { 'x-codeSamples': samples });
}
