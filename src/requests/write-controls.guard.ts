import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type FieldError, ValidationProblem } from '../problems/problem.js';
import { type EntityTags, parseIfMatch } from './entity-tags.js';
import { type WriteControls, type WriteOptions, writeOptions } from './write.js';

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** matches any spelling: a client that asks for a dry run must not find the change made */
const DRY_RUN = /^dry[-_]?run\b/i;

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
  const ifMatch = options.ifMatch === true ? readIfMatch(request, errors) : undefined;
  if (options.idempotencyKey === true && key === undefined && 'idempotency-key' in request.headers) {
    errors.push({ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' });
  }
  return {
    ...(ifMatch !== undefined && { ifMatch }),
    ...(key !== undefined && { key }),
    dryRun: options.dryRun === true && readBoolean(query, 'dryRun', errors),
    withRemedy: options.remedy === true && readBoolean(query, 'remedy', errors),
  };
}

function readIfMatch({ headers }: FastifyRequest, errors: FieldError[]): EntityTags | undefined {
  const text = headers['if-match'];
  if (text === undefined) return undefined;
  const tags = parseIfMatch(text);
  if (tags === undefined) errors.push({ field: 'If-Match', message: 'must be * or a list of entity tags' });
  return tags;
}

/** A misspelled parameter would change more than the client meant. Its name is the client's, so it is not repeated. */
function refuseUndeclared(query: Record<string, unknown>, options: WriteOptions, errors: FieldError[]): void {
  const declared = declaredNames(options);
  const undeclared = Object.keys(query).filter((name) => !declared.includes(name));
  if (undeclared.some((name) => DRY_RUN.test(name))) {
    errors.push({ field: 'dryRun', message: 'is not supported by this request' });
  } else if (undeclared.length > 0) {
    const taken = declared.length === 0 ? 'none' : `only ${declared.join(', ')}`;
    errors.push({
      field: 'query',
      message: `has a parameter that this request does not take; it takes ${taken}`,
    });
  }
}

function declaredNames({ dryRun, remedy, query = [] }: WriteOptions): string[] {
  return [...(dryRun ? ['dryRun'] : []), ...(remedy ? ['remedy'] : []), ...query];
}

function readBoolean(query: Record<string, unknown>, name: string, errors: FieldError[]): boolean {
  const value = query[name];
  if (value !== undefined && value !== 'true' && value !== 'false') {
    errors.push({ field: name, message: 'must be true or false' });
  }
  return value === 'true';
}
