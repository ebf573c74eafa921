import type { FastifyInstance } from 'fastify';
import { writeOptions } from './write-options.js';

/** Marks every answer to a dry run, including refusals of the body and of the caller. */
export function markDryRuns(fastify: FastifyInstance): void {
  fastify.decorateRequest('key', undefined);
  fastify.decorateRequest('writeControls', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    const { dryRun } = request.query as { dryRun?: unknown };
    if (dryRun === 'true' && writeOptions(request).dryRun === true) reply.header('Dry-Run', 'true');
    done();
  });
}
