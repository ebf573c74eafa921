import type { Data } from './send-request.ts';
import type { Route } from './operation.ts';
import type { InvalidParameter } from './problems.ts';

const PARAMETERS = /\{(\w+)\}/g;
/** Half of a character, which a URL cannot contain. */
const LONE_SURROGATE = /\p{Surrogate}/u;

interface RequestParts {
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** The names of the parameters of the path, each of which is required. */
export function pathNames({ path }: Route): string[] {
  return [...path.matchAll(PARAMETERS)].map(([, name]) => name!);
}

/** The names of the members of the input that the operation accepts. */
export function inputNames(route: Route): string[] {
  const { query = [], wrapped, fields = [] } = route;
  return [...pathNames(route), ...query, ...(wrapped ? ['body'] : fields)];
}

/** Puts each member of the input into the path, the query or the body, as the operation requires. */
export function requestOf(route: Route, input: Data): RequestParts | { problem: InvalidParameter } {
  const rest = { ...input };
  const take = (name: string): unknown => {
    const value = rest[name];
    delete rest[name];
    return value;
  };
  let wrong: string | undefined;
  const path = route.path.replaceAll(PARAMETERS, (_, name: string) => {
    const text = textOf(take(name));
    if (isSegment(text)) return encodeURIComponent(text);
    wrong ??= name;
    return '';
  });
  if (wrong !== undefined) return { problem: invalidParameter(wrong) };
  let query: URLSearchParams | undefined;
  for (const name of route.query ?? []) {
    const value = take(name);
    if (value !== undefined) (query ??= new URLSearchParams()).set(name, textOf(value));
  }
  return {
    path: query === undefined ? path : `${path}?${query.toString()}`,
    ...bodyOf(route, route.wrapped ? take('body') : rest),
  };
}

function bodyOf({ body }: Route, fields: unknown): Omit<RequestParts, 'path'> {
  if (body === undefined) return { headers: {}, body };
  const given = Object.entries((fields ?? {}) as Data).filter(([, value]) => value !== undefined);
  if (given.length === 0) return { headers: {}, body: undefined };
  if (body === 'json') {
    return {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(given)),
    };
  }
  const form = new URLSearchParams(given.map(([name, value]): [string, string] => [name, textOf(value)]));
  return { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: form.toString() };
}

/** URL parsers resolve `..` even if its dots are encoded, so the URL would name another route. */
function isSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !LONE_SURROGATE.test(text);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

function invalidParameter(parameter: string): InvalidParameter {
  return {
    code: 'invalid_parameter',
    status: null,
    detail: `${parameter} cannot be part of a path.`,
    parameter,
  };
}
