import type { FastifyInstance } from 'fastify';
import { Problem } from '../problems/problem.js';

/** A search for the longest e-mail, with the cursor of its page, has 1,200 characters if all are escaped. */
const MAX_URL_LENGTH = 2048;

export function refuseLongUrls(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    done(request.raw.url!.length > MAX_URL_LENGTH ? new Problem('uri_too_long') : undefined);
  });
}
