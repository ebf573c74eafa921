import type { LoggerService } from '@nestjs/common';
import type { Level, Logger } from 'pino';
import { describeError } from './describe-error.js';

/** Messages about Nest's own start do not help operators; a failed start goes to standard error. */
const FRAMEWORK_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'ExceptionHandler',
]);

export class NestLogger implements LoggerService {
  constructor(private readonly pino: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(level: Level, message: unknown, rest: unknown[]): void {
    const line = entry(message, rest);
    this.pino[FRAMEWORK_CONTEXTS.has(line.context ?? '') ? 'debug' : level](line);
  }
}

/** Nest passes the context last, and an error either as the message or as `err`. */
function entry(message: unknown, rest: unknown[]): { context?: string } & Record<string, unknown> {
  const context = rest.findLast((value) => typeof value === 'string');
  if (message instanceof Error) return { context, msg: 'error', err: describeError(message) };
  if (typeof message === 'object' && message !== null) {
    const { err, ...fields } = message as { err?: unknown };
    return { context, ...fields, err: err instanceof Error ? describeError(err) : err };
  }
  return { context, msg: String(message) };
}
