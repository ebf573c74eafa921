import type { INestApplication } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type METHODS, type Operation, operationsOf } from './document-parts.ts';
import { type CallerKind, callersOf, RouteAccess } from '#src/access/route-access';

export type Handler = (...parameters: unknown[]) => unknown;

export function handlersOf(app: INestApplication): Map<string, Handler> {
  const controllers = new DiscoveryService(app.get(ModulesContainer)).getControllers();
  const scanner = new MetadataScanner();
  return new Map(
    controllers.flatMap(({ instance }) => {
      const handlers = Object.getPrototypeOf(instance) as Record<string, Handler>;
      return scanner
        .getAllMethodNames(handlers)
        .map((name) => [name, handlers[name]!] as const)
        .filter(([, handler]) => Reflect.hasMetadata(PATH_METADATA, handler));
    }),
  );
}

type Method = (typeof METHODS)[number];

type Components = Record<string, Record<string, unknown>>;

function withReferencedComponents(document: OpenAPIObject): OpenAPIObject {
  const all = document.components as Components;
  const used = new Set(
    operationsOf(document).flatMap(({ security = [] }) =>
      security.flatMap((need) => Object.keys(need).map((name) => `securitySchemes/${name}`)),
    ),
  );
  const follow = (node: unknown): void => {
    for (const [, group, name] of JSON.stringify(node).matchAll(/"#\/components\/(\w+)\/([^"/]+)"/g)) {
      const key = `${group}/${name}`;
      if (used.has(key)) continue;
      used.add(key);
      follow(all[group!]![name!]);
    }
  };
  follow(document.paths);
  const kept = Object.entries(all)
    .map(([group, members]) => [group, keep(members, (name) => used.has(`${group}/${name}`))] as const)
    .filter(([, members]) => Object.keys(members).length > 0);
  return { ...document, components: Object.fromEntries(kept) };
}

const keep = (members: object, isKept: (name: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => isKept(name)));

const LOG_IN = `Register or log in on this page. Later requests use the new access token until you leave the page. To
use another access token, enter it under **Authorize**.`;

const FAILURES = `A failure is a problem details object (RFC 9457) with a stable \`code\`. Failures outside the operations
below have codes, too: unknown paths (\`not_found\`), other methods (\`method_not_allowed\`), URLs of more than
2,048 characters (\`uri_too_long\`), and requests that are malformed or incomplete.`;

const CALLER_DESCRIPTIONS: Record<CallerKind, string> = {
  clients: `The API for clients, which act for a user.

${LOG_IN}

${FAILURES}`,
  services: `The API for internal services. A service has its own credentials, and acts for a user after it exchanged
the user's one-time code.

Enter the name and the secret of the service under **Authorize**.

${FAILURES}`,
  operators: `The API for operators: users to whom \`accounts operators grant\` gave this access.

Log in on this page with your second factor. To enroll one, choose _Clients_: the login is kept. Later requests use the
new access token until you leave the page. Every change takes a reason, which only operators can read. The audit log
names the operator.

${FAILURES}`,
};

const OPERATED = [
  'Users',
  'Organizations',
  'Audit log',
  'Emails',
  'Services',
  'Providers',
  'API keys',
  'Status',
];

const FIRST_TAGS: Record<CallerKind, string[]> = {
  clients: [],
  services: ['Login hand-off', 'Services', 'Discovery and keys'],
  operators: ['Authentication', ...OPERATED.map((noun) => `Admin: ${noun}`)],
};

export function documentFor(callers: CallerKind, whole: OpenAPIObject, app: INestApplication): OpenAPIObject {
  const handlers = handlersOf(app);
  const reflector = app.get(Reflector);
  const isMeant = ({ operationId = '' }: Operation): boolean =>
    callersOf(reflector.get(RouteAccess, handlers.get(operationId)!)).includes(callers);

  const paths = Object.entries(whole.paths)
    .map(([path, item]) => [path, keep(item, (method) => isMeant(item[method as Method]!))] as const)
    .filter(([, item]) => Object.keys(item).length > 0);
  const document = { ...whole, paths: Object.fromEntries(paths) };
  const complete = withReferencedComponents({
    ...document,
    info: { ...whole.info, description: CALLER_DESCRIPTIONS[callers] },
    tags: usedTags(document, FIRST_TAGS[callers]),
  });
  // Here, no other tag has the same noun.
  return JSON.parse(JSON.stringify(complete).replaceAll('"Admin: ', '"')) as OpenAPIObject;
}

function usedTags(document: OpenAPIObject, first: string[]): OpenAPIObject['tags'] {
  const names = new Set(operationsOf(document).flatMap(({ tags = [] }) => tags));
  const rank = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length);
  return document.tags
    ?.filter(({ name }) => names.has(name))
    .toSorted((one, other) => rank(one.name) - rank(other.name));
}
