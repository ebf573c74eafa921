import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';

export interface SpanFactory {
  request(method: string, parent: TraceParent | undefined): Span;
  query(sql: string, parent: Span, others: readonly Span[]): Span;
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

export function spanFactory(): SpanFactory | undefined {
  return factory;
}

export function currentSpan(): Span | undefined {
  return factory && scope.getStore()?.span;
}

export function runInSpan<T>(span: Span, work: () => T): T {
  return scope.run({ span, others: [] }, work);
}

export function runForAll<T>(spans: readonly (Span | undefined)[], work: () => T): T {
  if (!factory) return work();
  const [span, ...others] = spans.flatMap((one) => (one?.isRecording() ? [one] : []));
  return span ? scope.run({ span, others }, work) : scope.exit(work);
}

type QueryEnd = (error?: unknown) => void;

const nothing: QueryEnd = () => undefined;

/** Records only the text of the statement, which has placeholders. */
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

export interface TraceParent {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const SAMPLED = 0x01;

/** W3C Trace Context, section 3.2: only versions after 00 may have more fields. */
export function parseTraceparent(header: unknown): TraceParent | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) {
    return undefined;
  }
  return { traceId, spanId, sampled: (Number.parseInt(flags!, 16) & SAMPLED) !== 0 };
}
