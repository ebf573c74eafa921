import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse as parseForm } from 'node:querystring';
import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiConsumes } from '@nestjs/swagger';
import { FORM_MEDIA_TYPE, FORM_NEEDED, Problem } from '../problems/problem.js';
import { ApiProblems } from '../openapi/decorators.js';

const MAX_DEPTH = 10;
const BYTE_ORDER_MARK = '\uFEFF';
const STRING = /"(?:[^"\\]+|\\.)*"(?:[ \t\r\n]*(:))?/g;

function malformedJson(detail: string): Problem {
  return new Problem('malformed_json', { detail });
}

export function acceptBodies(fastify: FastifyInstance): void {
  acceptJsonBodies(fastify);
  acceptFormBodies(fastify);
}

/** RFC 8259 section 8.1. Accepts empty bodies, which clients send with this media type. */
function acceptJsonBodies(fastify: FastifyInstance): void {
  // Rejects the keys __proto__ and constructor.
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (takesForm(request)) return done(new Problem('unsupported_media_type'));
    if (body.length === 0) return done(null, undefined);
    if (!isUtf8(body) || body.indexOf(BYTE_ORDER_MARK) === 0) {
      return done(malformedJson('The body is not UTF-8 without a byte order mark.'));
    }
    const text = body.toString('utf8');
    return parse(request, text, (error, value: unknown) => {
      const problem = error ? malformedJson('The body is not valid JSON.') : faultOf(value, text);
      return problem ? done(problem) : done(null, value);
    });
  });
}

function faultOf(value: unknown, text: string): Problem | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Problem('malformed_json');
  if (isDeeperThan(value, MAX_DEPTH)) {
    return malformedJson(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  }
  return keysIn(text) === keysOf(value) ? undefined : malformedJson('The body has a key twice.');
}

/** In valid JSON every quote begins or ends a string, and a colon follows each key. */
function keysIn(text: string): number {
  return [...text.matchAll(STRING)].filter(([, colon]) => colon !== undefined).length;
}

function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce<number>((sum, one) => sum + keysOf(one), Array.isArray(value) ? 0 : inner.length);
}

/** A body has room for 8,000 levels, for which the recursion of the validation would overflow the stack. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

const REPEATED_PARAMETER = 'The form has a parameter twice.';

declare module 'fastify' {
  interface FastifyContextConfig {
    takesForm?: true;
  }
}

export const FormBody = (): MethodDecorator =>
  applyDecorators(
    RouteConfig({ takesForm: true }),
    ApiConsumes(FORM_MEDIA_TYPE),
    ApiProblems({ code: 'bad_request', detail: REPEATED_PARAMETER }),
  );

function acceptFormBodies(fastify: FastifyInstance): void {
  fastify.addContentTypeParser(FORM_MEDIA_TYPE, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (!takesForm(request)) return done(new Problem('unsupported_media_type'));
    if (!isUtf8(body)) return done(new Problem('bad_request', { detail: 'The form is not UTF-8.' }));
    const form = parseForm(body.toString('utf8'), '&', '=', { maxKeys: 0 });
    // RFC 6749 section 3.2
    if (Object.values(form).some((value) => typeof value !== 'string'))
      return done(new Problem('bad_request', { detail: REPEATED_PARAMETER }));
    return done(null, form);
  });
}

export function unsupportedMediaType(request: FastifyRequest): Problem {
  return new Problem('unsupported_media_type', takesForm(request) ? { detail: FORM_NEEDED } : {});
}

function takesForm({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.takesForm === true;
}
