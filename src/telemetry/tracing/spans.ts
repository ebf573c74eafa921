import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';
import type { TraceParent } from './traceparent.js';

export interface SpanFactory {
  request(method: string, parent: TraceParent | undefined): Span;
  query(sql: string, parent: Span, others: readonly Span[]): Span;
  /** Ends the span as failed, with as much of the error as is safe to tell. */
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

/** Returns undefined if traces are off. */
export function spanFactory(): SpanFactory | undefined {
  return factory;
}

export function currentSpan(): Span | undefined {
  return factory && scope.getStore()?.span;
}

export function runInSpan<T>(span: Span, work: () => T): T {
  return scope.run({ span, others: [] }, work);
}

/** Runs shared work in the first span that is recorded, linked to the others. */
export function runForAll<T>(spans: readonly (Span | undefined)[], work: () => T): T {
  if (!factory) return work();
  const [span, ...others] = spans.flatMap((one) => (one?.isRecording() ? [one] : []));
  return span ? scope.run({ span, others }, work) : scope.exit(work);
}

type QueryEnd = (error?: unknown) => void;

const nothing: QueryEnd = () => undefined;

/** Begins a statement's span, and returns its end. Records only the text, which has placeholders. */
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
