import type { FastifyInstance } from 'fastify';
import { METHODS } from 'node:http';
import { Problem } from '../problems/problem.js';
import { issuerUrl } from '../config/readers.js';

const MAX_SEGMENT_LENGTH = 24;
const MAX_SEGMENTS = 16;
/** In the absolute form (RFC 9112 section 3.2.2) it may contain a password. */
const AUTHORITY = /^[a-z]+:\/\/[^/?#]*/i;

export function loggedPath(url: string): string {
  const [path = ''] = url.replace(AUTHORITY, '').split(/[?#]/, 1);
  return path
    .split('/', MAX_SEGMENTS)
    .map((segment) => segment.slice(0, MAX_SEGMENT_LENGTH))
    .join('/');
}

export const DIRECTORY_PATH = '/api/directory';

const MAX_URL_LENGTH = 2048;
/** A hundred ids fit. */
const MAX_DIRECTORY_URL_LENGTH = 8192;

export function refuseLongUrls(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw, routeOptions }, _reply, done) => {
    const isDirectory = routeOptions.url?.startsWith(`${DIRECTORY_PATH}/`) ?? false;
    const max = isDirectory ? MAX_DIRECTORY_URL_LENGTH : MAX_URL_LENGTH;
    done(raw.url!.length > max ? new Problem('uri_too_long') : undefined);
  });
}

export const JWKS_PATH = '/.well-known/jwks.json';
export const OPENID_CONFIGURATION_PATH = '/.well-known/openid-configuration';
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';
export const INTROSPECTION_PATH = '/api/auth/introspect';

// Maps the discovery URLs to routes if the issuer has a path, which RFC 8414 puts last, where no proxy removes it. Accounts
// maps no other URL below the path, or clients could evade a proxy's rule for `/docs`.
export function issuerPaths(issuer: string): (url: string) => string {
  const path = issuerUrl(issuer)?.path ?? '';
  if (path === '') return (url) => url;
  const routes = new Map([
    ...[OPENID_CONFIGURATION_PATH, JWKS_PATH, INTROSPECTION_PATH].map(
      (route) => [path + route, route] as const,
    ),
    [SERVER_METADATA_PATH + path, SERVER_METADATA_PATH],
    [`${SERVER_METADATA_PATH}${path}/`, SERVER_METADATA_PATH],
  ]);
  return (url) => {
    const [named = ''] = url.split('?', 1);
    const route = routes.get(named);
    return route === undefined ? url : route + url.slice(named.length);
  };
}

const PATH_METHODS = METHODS.filter((method) => method !== 'CONNECT');
const BUILT_IN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'OPTIONS']);

/** RFC 9110 section 15.5.6. Call the returned function once all routes exist. */
export function collectAllowedMethods(fastify: FastifyInstance): () => void {
  for (const method of PATH_METHODS.filter((name) => !BUILT_IN_METHODS.has(name))) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  const known = new Map<string, Set<string>>();
  fastify.addHook('onRoute', ({ url, method }) => {
    const methods = known.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    known.set(url, methods);
  });

  return () => {
    for (const [url, allowed] of [...known].filter(([path]) => !path.includes('*'))) {
      const allow = [...allowed].join(', ');
      const options = { detail: `Allowed methods: ${allow}`, headers: { Allow: allow } };
      fastify.route({
        url,
        method: PATH_METHODS.filter((method) => !allowed.has(method)),
        exposeHeadRoute: false,
        onRequest: (_request, _reply, done) => done(new Problem('method_not_allowed', options)),
        handler: () => undefined,
      });
    }
  };
}
