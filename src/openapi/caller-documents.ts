import type { INestApplication } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type CallerKind, callersOf, RouteAccess } from '../access/route-access.js';
import { CALLER_DESCRIPTIONS } from './descriptions.js';
import { handlersOf } from './handlers.js';
import { METHODS, type Operation, operationsOf } from './operations.js';
import { withReferencedComponents } from './referenced-components.js';

/** tags in the order in which these callers come to need them; the others follow */
const FIRST_TAGS: Record<CallerKind, string[]> = {
  clients: [],
  services: ['Auth', 'Tokens', 'Services'],
  operators: ['Auth', 'Operators'],
};

/** Returns the document of one kind of callers: the operations that are declared for them, and what those refer to. */
export function documentFor(callers: CallerKind, whole: OpenAPIObject, app: INestApplication): OpenAPIObject {
  const handlers = handlersOf(app);
  const reflector = app.get(Reflector);
  const isMeant = ({ operationId = '' }: Operation): boolean =>
    callersOf(reflector.get(RouteAccess, handlers.get(operationId)!)).includes(callers);

  const paths = Object.entries(whole.paths)
    .map(([path, item]) => [path, withoutOperations(item, (operation) => !isMeant(operation))] as const)
    .filter(([, item]) => METHODS.some((method) => method in item));
  const document = { ...whole, paths: Object.fromEntries(paths) };
  return withReferencedComponents({
    ...document,
    info: { ...whole.info, description: CALLER_DESCRIPTIONS[callers] },
    tags: usedTags(document, FIRST_TAGS[callers]),
  });
}

function withoutOperations<Item extends OpenAPIObject['paths'][string]>(
  item: Item,
  isLeftOut: (operation: Operation) => boolean,
): Item {
  const kept = { ...item };
  for (const method of METHODS) {
    const operation = kept[method];
    if (operation && isLeftOut(operation)) delete kept[method];
  }
  return kept;
}

function usedTags(document: OpenAPIObject, first: string[]): OpenAPIObject['tags'] {
  const names = new Set(operationsOf(document).flatMap(({ tags = [] }) => tags));
  const rank = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length);
  return document.tags
    ?.filter(({ name }) => names.has(name))
    .toSorted((one, other) => rank(one.name) - rank(other.name));
}
