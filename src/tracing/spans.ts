import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';
import type { TraceParent } from './traceparent.js';

/** Makes spans; there is one where traces are switched on. */
export interface SpanFactory {
  request(method: string, parent: TraceParent | undefined): Span;
  /** @param others whose requests share the query */
  query(sql: string, parent: Span, others: readonly Span[]): Span;
  /** Ends the span as failed, with what is safe to say of the error. */
  fail(span: Span, error: unknown): void;
}

interface Scope {
  span: Span;
  others: readonly Span[];
}

const scope = new AsyncLocalStorage<Scope>();
let factory: SpanFactory | undefined;

export function useSpanFactory(spans: SpanFactory): void {
  factory = spans;
}

/** undefined where traces are off. */
export function spanFactory(): SpanFactory | undefined {
  return factory;
}

/** Of the request that the running code belongs to. */
export function currentSpan(): Span | undefined {
  return factory && scope.getStore()?.span;
}

export function runInSpan<T>(span: Span, work: () => T): T {
  return scope.run({ span, others: [] }, work);
}

/** Runs what several requests share as part of the first of them that is recorded, linked to the others. */
export function runForAll<T>(spans: readonly (Span | undefined)[], work: () => T): T {
  if (!factory) return work();
  const [span, ...others] = spans.flatMap((one) => (one?.isRecording() ? [one] : []));
  return span ? scope.run({ span, others }, work) : scope.exit(work);
}

type QueryEnd = (error?: unknown) => void;

const nothing: QueryEnd = () => undefined;

/**
 * Begins the span of a statement that a traced request runs; what is returned ends it. Only the text is
 * recorded, which has placeholders.
 */
export function queryBegins(sql: string): QueryEnd {
  const current = factory && scope.getStore();
  if (!factory || !current?.span.isRecording()) return nothing;
  const spans = factory;
  const span = spans.query(sql, current.span, current.others);
  return (error) => {
    if (error) spans.fail(span, error);
    else span.end();
  };
}
