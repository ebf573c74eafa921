import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';

type Components = Record<string, Record<string, unknown>>;

/** Returns the document without the components that none of its operations refers to, directly or through others. */
export function withReferencedComponents(document: OpenAPIObject): OpenAPIObject {
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

const keep = (members: Record<string, unknown>, isKept: (name: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => isKept(name)));
