import type { FastifyInstance } from 'fastify';
import findMyWay from 'find-my-way';
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

export const FEED_PATH = '/api/events';
export const DIRECTORY_PATH = '/api/directory';

export const MAX_PARAM_LENGTH = 16 * 1024;
const MAX_URL_LENGTH = 2048;
/** A hundred ids of the directory fit, or the code and the state of a provider. */
const MAX_LONG_URL_LENGTH = 8192;
const CALLBACK = '/api/auth/providers/:name/callback';
const CALLBACK_PATH = /^\/api\/auth\/providers\/[a-z0-9-]+\/callback$/;

export function refuseLongUrls(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw, routeOptions }, _reply, done) => {
    const isLong = routeOptions.url === CALLBACK || routeOptions.url?.startsWith(`${DIRECTORY_PATH}/`);
    const max = isLong ? MAX_LONG_URL_LENGTH : MAX_URL_LENGTH;
    done(raw.url!.length > max ? new Problem('uri_too_long') : undefined);
  });
}

export const JWKS_PATH = '/.well-known/jwks.json';
export const OPENID_CONFIGURATION_PATH = '/.well-known/openid-configuration';
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';
export const INTROSPECTION_PATH = '/api/auth/introspect';
export const TOKEN_PATH = '/api/auth/token';

// Maps the discovery URLs to routes if the issuer has a path, which RFC 8414 puts last, where no proxy removes it, and the
// URL to which providers redirect. Accounts maps no other URL below the path, or clients could evade a proxy's rule for
// `/docs`.
export function issuerPaths(issuer: string): (url: string) => string {
  const path = issuerUrl(issuer)?.path ?? '';
  if (path === '') return (url) => url;
  const routes = new Map([
    ...[OPENID_CONFIGURATION_PATH, JWKS_PATH, INTROSPECTION_PATH, TOKEN_PATH].map(
      (route) => [path + route, route] as const,
    ),
    [SERVER_METADATA_PATH + path, SERVER_METADATA_PATH],
    [`${SERVER_METADATA_PATH}${path}/`, SERVER_METADATA_PATH],
  ]);
  return (url) => {
    const [named = ''] = url.split('?', 1);
    const below = named.startsWith(path) ? named.slice(path.length) : '';
    const route = CALLBACK_PATH.test(below) ? below : routes.get(named);
    return route === undefined ? url : route + url.slice(named.length);
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** if there are routes of the path, but none with the method */
    knownPath?: string;
  }
}

/** RFC 9110 section 15.5.6. Routes for all other methods would take 17 MiB of each process. */
export function refuseOtherMethods(fastify: FastifyInstance): void {
  // No route accepts it, and Fastify would require a body before it answers 404.
  fastify.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
  const paths = findMyWay({ maxParamLength: MAX_PARAM_LENGTH });
  const allowed = new Map<string, string[]>();
  fastify.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return;
    const methods = allowed.get(url) ?? [];
    if (methods.length === 0) paths.on('GET', url, () => undefined, url);
    allowed.set(url, [...methods, ...[method].flat()]);
  });
  fastify.decorateRequest('knownPath', undefined);
  fastify.addHook('onRequest', (request, _reply, done) => {
    const known = request.is404 ? paths.find('GET', request.url) : null;
    if (!known) return done();
    const url = known.store as string;
    request.knownPath = url;
    const allow = allowed.get(url)!.join(', ');
    done(
      new Problem('method_not_allowed', { detail: `Allowed methods: ${allow}`, headers: { Allow: allow } }),
    );
  });
}
