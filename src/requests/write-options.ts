import type { FastifyRequest } from 'fastify';
import type { WriteControls } from './write.js';
import type { RequestKey } from './request-key.js';

/** The headers and query parameters that a change takes besides path and body. */
export interface WriteOptions {
  ifMatch?: boolean;
  idempotencyKey?: boolean;
  dryRun?: boolean;
  remedy?: boolean;
  /** query parameters that the handler reads itself */
  query?: readonly string[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    write?: WriteOptions;
  }
  interface FastifyRequest {
    /** set for a route that takes a key, once the caller is known */
    key?: RequestKey;
    writeControls?: WriteControls;
  }
}

export function writeOptions({ routeOptions }: FastifyRequest): WriteOptions {
  return routeOptions.config.write ?? {};
}
