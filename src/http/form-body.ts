import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiConsumes } from '@nestjs/swagger';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiProblems } from '../openapi/decorators.js';
import { FORM, FORM_NEEDED } from '../problems/media-types.js';
import { Problem } from '../problems/problem.js';

const REPEATED_PARAMETER = 'The form has a parameter twice.';

declare module 'fastify' {
  interface FastifyContextConfig {
    takesForm?: true;
  }
}

/** Gives a route a form for its body, as standards of OAuth require, and takes JSON away from it. */
export const FormBody = (): MethodDecorator =>
  applyDecorators(
    RouteConfig({ takesForm: true }),
    ApiConsumes(FORM),
    ApiProblems({ code: 'bad_request', detail: REPEATED_PARAMETER }),
  );

export function acceptFormBodies(fastify: FastifyInstance): void {
  fastify.addContentTypeParser(FORM, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (!takesForm(request)) return done(new Problem('unsupported_media_type'));
    if (!isUtf8(body)) return done(new Problem('bad_request', { detail: 'The form is not UTF-8.' }));
    const form = parse(body.toString('utf8'), '&', '=', { maxKeys: 0 });
    if (Object.values(form).some((value) => typeof value !== 'string'))
      return done(new RepeatedParameterError());
    return done(null, form);
  });
}

/** Names the media type that the request takes. */
export function unsupportedMediaType(request: FastifyRequest): Problem {
  return new Problem('unsupported_media_type', takesForm(request) ? { detail: FORM_NEEDED } : {});
}

export function takesForm({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.takesForm === true;
}

/** RFC 6749 section 3.2 */
class RepeatedParameterError extends Problem {
  constructor() {
    super('bad_request', { detail: REPEATED_PARAMETER });
  }
}
