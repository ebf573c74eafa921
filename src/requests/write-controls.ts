import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type FieldError, undeclaredParameter, ValidationProblem } from '../problems/problem.js';
import { type EntityTags, parseIfMatch } from './entity-tags.js';
import type { RequestKey } from './idempotency.js';

export interface WriteOptions {
  ifMatch?: boolean;
  idempotencyKey?: boolean;
  dryRun?: boolean;
  remedy?: boolean;
  query?: readonly string[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    write?: WriteOptions;
  }
  interface FastifyRequest {
    key?: RequestKey;
    writeControls?: WriteControls;
  }
}

export function writeOptions({ routeOptions }: FastifyRequest): WriteOptions {
  return routeOptions.config.write ?? {};
}

export interface WriteControls {
  ifMatch?: EntityTags;
  dryRun: boolean;
  key?: RequestKey;
}

/** Marks every answer to a dry run, including rejections of the body and of the caller. */
export function markDryRuns(fastify: FastifyInstance): void {
  fastify.decorateRequest('key', undefined);
  fastify.decorateRequest('writeControls', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    const { dryRun } = request.query as { dryRun?: unknown };
    if (dryRun === 'true' && writeOptions(request).dryRun === true) reply.header('Dry-Run', 'true');
    done();
  });
}

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

@Injectable()
export class WriteControlsGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!WRITES.has(request.method)) return true;
    const errors: FieldError[] = [];
    request.writeControls = readControls(request, writeOptions(request), errors);
    if (errors.length > 0) throw new ValidationProblem(errors);
    return true;
  }
}

function readControls(request: FastifyRequest, options: WriteOptions, errors: FieldError[]): WriteControls {
  const { key } = request;
  const query = request.query as Record<string, unknown>;
  refuseUndeclared(query, options, errors);
  if (options.remedy === true) readBoolean(query, 'remedy', errors);
  const tags = options.ifMatch === true ? request.headers['if-match'] : undefined;
  const ifMatch = tags === undefined ? undefined : parseIfMatch(tags);
  if (tags !== undefined && ifMatch === undefined)
    errors.push({ field: 'If-Match', message: 'must be * or a list of entity tags' });
  if (options.idempotencyKey === true && key === undefined && 'idempotency-key' in request.headers) {
    errors.push({ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' });
  }
  return {
    ...(ifMatch !== undefined && { ifMatch }),
    ...(key !== undefined && { key }),
    dryRun: options.dryRun === true && readBoolean(query, 'dryRun', errors),
  };
}

/** A misspelled parameter could change more than the client meant. The error omits its name, which may be anything. */
function refuseUndeclared(query: Record<string, unknown>, options: WriteOptions, errors: FieldError[]): void {
  const { dryRun, remedy, query: names = [] } = options;
  const declared = [...(dryRun ? ['dryRun'] : []), ...(remedy ? ['remedy'] : []), ...names];
  const undeclared = Object.keys(query).filter((name) => !declared.includes(name));
  if (undeclared.includes('dryRun')) {
    errors.push({ field: 'dryRun', message: 'is not supported by this request' });
  } else if (undeclared.length > 0) {
    errors.push(undeclaredParameter(declared));
  }
}

function readBoolean(query: Record<string, unknown>, name: string, errors: FieldError[]): boolean {
  const value = query[name];
  if (value !== undefined && value !== 'true' && value !== 'false') {
    errors.push({ field: name, message: 'must be true or false' });
  }
  return value === 'true';
}
